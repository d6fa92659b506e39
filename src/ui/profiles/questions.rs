//! Questions that come before everything else: what to do with what is not saved, and whether to remove.

use eframe::egui::{Button, Frame, Id, Label, Margin, Modal, RichText, Ui};

use super::list::ListInput;
use crate::model::phrase::phrase;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{answers_enter, primary_button_ui};
use crate::words::Catalogue;

#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    Unsaved {
        name: String,
        to: ListInput,
    },
    Remove {
        id: crate::model::profile::TopologyId,
        name: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything stays as it is.
    Back,
    Save,
    /// Discard, or remove.
    GoOn,
}

/// In the middle, over everything, with room around its words.
pub fn question_modal(ui: &Ui, name: &'static str) -> Modal {
    let frame = Frame::popup(ui.style()).inner_margin(Margin::same((4.0 * UNIT) as i8));
    Modal::new(Id::unique(name)).frame(frame)
}

pub fn asked_ui(ui: &mut Ui, asked: &Asked, can_save: bool, words: &Catalogue) -> Option<Answer> {
    let mut answer = None;
    let shown = question_modal(ui, "profiles question").show(ui.ctx(), |ui| {
        ui.set_width((ui.ctx().content_rect().width() - 16.0 * UNIT).min(105.0 * UNIT));
        let (title, text) = match asked {
            Asked::Unsaved { name, .. } => (
                phrase("ask.unsaved.title").with("name", name.as_str()),
                phrase("ask.unsaved.text"),
            ),
            Asked::Remove { name, .. } => (
                phrase("ask.remove.title").with("name", name.as_str()),
                phrase("ask.remove.text"),
            ),
        };
        ui.label(theme::title(words.say(&title)));
        ui.add(Label::new(theme::dim(ui, words.say(&text))).wrap());
        ui.add_space(2.0 * UNIT);
        ui.horizontal_wrapped(|ui| match asked {
            Asked::Unsaved { .. } => {
                ui.add_enabled_ui(can_save, |ui| {
                    let save = primary_button_ui(ui, words.text("ask.unsaved.save"));
                    if can_save {
                        answers_enter(ui, &save);
                    }
                    if save.clicked() {
                        answer = Some(Answer::Save);
                    }
                });
                if ui.button(words.text("ask.unsaved.discard")).clicked() {
                    answer = Some(Answer::GoOn);
                }
                let back = ui.button(words.text("ask.unsaved.back"));
                if !can_save {
                    answers_enter(ui, &back);
                }
                if back.clicked() {
                    answer = Some(Answer::Back);
                }
            }
            Asked::Remove { .. } => {
                let text = RichText::new(words.text("ask.remove.do"));
                let text = text.color(theme::palette(ui).critical);
                if ui.add(Button::new(text)).clicked() {
                    answer = Some(Answer::GoOn);
                }
                let back = ui.button(words.text("ask.back"));
                answers_enter(ui, &back);
                if back.clicked() {
                    answer = Some(Answer::Back);
                }
            }
        });
    });
    if shown.should_close() {
        answer = answer.or(Some(Answer::Back));
    }
    answer
}
