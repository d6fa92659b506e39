//! The bar at the bottom: what watching costs, and what happened last.

use eframe::egui::{Align, Button, Label, Layout, RichText, Ui};

use super::ShellData;
use crate::model::phrase::phrase;
use crate::ui::Frame;
use crate::ui::action::{Action, Screen};
use crate::ui::theme::{self, palette, size};
use crate::ui::widgets::sign_ui;

pub fn bottom_ui(ui: &mut Ui, data: &ShellData, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        let cost = cost_text(data, frame);
        let left = (ui.available_width() * 0.5).max(80.0);
        ui.allocate_ui_with_layout(
            eframe::egui::vec2(left, ui.available_height()),
            Layout::left_to_right(Align::Center),
            |ui| {
                ui.add(Label::new(theme::note(ui, cost.as_str())).truncate())
                    .on_hover_text(format!("{cost}\n{}", words.text("shell.cost.hint")));
            },
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let Some((sign, text)) = &data.last_event else {
                return;
            };
            let label = RichText::new(text).size(size::SMALL).color(palette(ui).dim);
            let button = Button::new(label).frame_when_inactive(false).truncate();
            if ui
                .add(button)
                .on_hover_text(words.text("shell.last_event.hint"))
                .clicked()
            {
                actions.push(Action::Show(Screen::Events));
            }
            sign_ui(ui, words, *sign);
        });
    });
}

/// "3 servers · 27 statements/s · 4.1 kB/s · poll 1 s · marks 250 ms"
pub fn cost_text(data: &ShellData, frame: &Frame<'_>) -> String {
    let words = frame.words;
    let cost = &data.cost;
    if cost.servers == 0 {
        return words.text("shell.nothing_watched").to_owned();
    }
    let mut parts = vec![
        words.say(&phrase("shell.servers").with("n", cost.servers as u64)),
        words.say(&phrase("shell.statements").with("rate", words.rate(cost.statements_per_second))),
        words.bytes_rate(cost.bytes_per_second),
    ];
    if let Some(intervals) = data.intervals {
        parts.push(words.say(&phrase("shell.poll").with("span", intervals.poll)));
        parts.push(words.say(&phrase("shell.marks").with("span", intervals.mark)));
    }
    parts.join(" · ")
}
