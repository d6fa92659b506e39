//! How a run is to be made: how long a read may wait, and whether the pools' writing sessions go through a proxy.

use eframe::egui::{Label, TextEdit, Ui};

use super::AcceptanceState;
use crate::model::phrase::Phrase;
use crate::model::profile::{Address, Target};
use crate::model::time::Span;
use crate::ui::probe::controls::pick_ui;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Sign, sign_word_ui};
use crate::words::Catalogue;

/// A replica is held back for longer than a wait, so these are not long.
const WAIT_LIMITS: [Span; 4] = [
    Span::from_millis(200),
    Span::from_millis(500),
    Span::from_secs(1),
    Span::from_secs(5),
];

pub const DEFAULT_WAIT_LIMIT: Span = WAIT_LIMITS[2];

/// What is in the field; empty is no proxy.
pub fn proxy(text: &str) -> Result<Option<Address>, Phrase> {
    match text.trim() {
        "" => Ok(None),
        text => Target::parse(text).map(|target| Some(target.address)),
    }
}

pub fn choices_ui(ui: &mut Ui, state: &mut AcceptanceState, words: &Catalogue) {
    ui.horizontal_wrapped(|ui| {
        let limits = WAIT_LIMITS.map(|limit| (limit, words.span(limit)));
        let name = words.text("probe_screen.wait_limit");
        pick_ui(ui, name, &mut state.wait_limit, &limits);
        ui.add_space(2.0 * UNIT);
        let label = ui.label(words.text("acceptance.proxy"));
        let field = TextEdit::singleline(&mut state.proxy)
            .desired_width(44.0 * UNIT)
            .hint_text("127.0.0.1:6033");
        ui.add(field)
            .labelled_by(label.id)
            .on_hover_text(words.text("acceptance.why_proxy"));
    });
    match proxy(&state.proxy) {
        Err(why) => drop(sign_word_ui(ui, Sign::Critical, words.say(&why))),
        Ok(None) => {}
        Ok(Some(_)) => {
            let text = theme::note(ui, words.text("acceptance.why_proxy"));
            ui.add(Label::new(text).wrap());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_field_is_no_proxy_and_nonsense_is_said() {
        assert_eq!(proxy("  "), Ok(None));
        let address = Address::tcp("db-proxy", 6033);
        assert_eq!(proxy(" db-proxy:6033 "), Ok(Some(address)));
        assert!(proxy("mysql://db-proxy").is_err());
    }
}
