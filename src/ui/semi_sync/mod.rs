//! The Semi-sync screen: configured, in force and acknowledging are three facts (R24), told apart on both ends.

mod data;
pub mod setup;

use eframe::egui::{Label, RichText, ScrollArea, Ui};

use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::lesson::pointer;
use crate::ui::panels::{PanelsState, absence_ui, columns_ui, stale_ui};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{Card, Edge, Sign, lamp_ui, sign_word_ui};

pub use data::{SemiSyncData, SourceEnd, ThreeFacts};

/// What the person is doing here.
#[derive(Clone, Debug, Default)]
pub struct SemiSyncState {
    pub panels: PanelsState,
}

pub fn semi_sync_ui(
    ui: &mut Ui,
    data: &SemiSyncData,
    state: &mut SemiSyncState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let ends = match data {
        SemiSyncData::Nothing(absence) => return absence_ui(ui, absence, frame, actions),
        SemiSyncData::Sources(ends) => ends,
    };
    ScrollArea::vertical().id_salt("semi_sync").show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0 * UNIT;
        for end in ends {
            if let Some(stale) = &end.stale {
                stale_ui(ui, stale, frame, actions);
            }
            pointer::around(ui, "semi_sync", |ui| facts_ui(ui, end, frame));
            let columns = [end.left.as_slice(), end.right.as_slice()];
            columns_ui(ui, columns, &mut state.panels, frame, actions);
        }
        ui.add(Label::new(theme::note(ui, frame.words.text("semi_sync.not_applied"))).wrap());
        ui.add_space(2.0 * UNIT);
    });
}

/// The three facts side by side under one sentence.
fn facts_ui(ui: &mut Ui, end: &SourceEnd, frame: &Frame<'_>) {
    let palette = theme::palette(ui);
    let edge = Edge::Left(end.sign.color(palette));
    Card::new().edge(edge).show(ui, |ui| {
        sign_word_ui(ui, end.sign, theme::title(&end.title));
        ui.add(Label::new(RichText::new(&end.sentence)).wrap());
        let Some(facts) = &end.facts else { return };
        ui.add_space(UNIT);
        ui.separator();
        ui.columns(3, |columns| {
            let keys = [
                "semi_sync.configured",
                "semi_sync.in_force",
                "semi_sync.acknowledging",
            ];
            let lit = [&facts.configured, &facts.in_force, &facts.acknowledging];
            for ((column, key), (sign, word)) in columns.iter_mut().zip(keys).zip(lit) {
                lamp_ui(column, *sign, frame.words.text(key), word, &end.source);
            }
        });
    });
}

/// Worst first, for the sign of the whole.
pub(super) fn worst(signs: &[Sign]) -> Sign {
    let order = [
        Sign::Critical,
        Sign::Warning,
        Sign::Unknown,
        Sign::Stopped,
        Sign::Ok,
        Sign::NotApplicable,
    ];
    order
        .into_iter()
        .find(|sign| signs.contains(sign))
        .unwrap_or(Sign::NotApplicable)
}
