//! The same servers elsewhere: a Docker Compose file or a script for dbdeployer, to be read, copied and saved.

use eframe::egui::{Label, ScrollArea, TextEdit, Ui};

use super::board::LabBoard;
use crate::model::lab::{LabPlan, Recipe};
use crate::ui::Frame;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::export::FileState;
use crate::ui::profiles::{named, question_modal};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    Sign, answers_enter, copy_button_ui, quiet_button_ui, segments_ui, sign_word_ui,
};

/// What the person is doing with the texts.
#[derive(Debug, Default)]
pub struct Elsewhere {
    is_open: bool,
    recipe: Recipe,
    pub file: FileState,
}

/// The way to the texts; they are written when it is pressed.
pub fn button_ui(
    ui: &mut Ui,
    plan: &LabPlan,
    state: &mut Elsewhere,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let button = quiet_button_ui(ui, words.text("lab_screen.elsewhere"));
    if button
        .on_hover_text(words.text("lab_screen.elsewhere.hint"))
        .clicked()
    {
        state.is_open = true;
        actions.push(Action::WriteLabDown(plan.clone()));
    }
}

/// Over everything, while it is open.
pub fn texts_ui(
    ui: &mut Ui,
    board: &LabBoard,
    state: &mut Elsewhere,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let Some(texts) = board.recipes.as_ref().filter(|_| state.is_open) else {
        return;
    };
    let words = frame.words;
    let mut is_done = false;
    let shown = question_modal(ui, "lab elsewhere").show(ui.ctx(), |ui| {
        let window = ui.ctx().content_rect().size();
        ui.set_width((window.x - 16.0 * UNIT).min(190.0 * UNIT));
        ui.label(theme::title(words.text("lab_screen.elsewhere.title")));
        let about = theme::dim(ui, words.text("lab_screen.elsewhere.text"));
        ui.add(Label::new(about).wrap());
        ui.add_space(UNIT);
        let text = texts.of(state.recipe);
        ui.horizontal(|ui| {
            let recipes = [
                (Recipe::Compose, "Docker Compose".to_owned()),
                (Recipe::Dbdeployer, "dbdeployer".to_owned()),
            ];
            segments_ui(ui, &mut state.recipe, &recipes);
            let what = words.text("lab_screen.elsewhere.copy");
            copy_button_ui(ui, words, what, || text.to_owned());
        });
        let room = (window.y - 76.0 * UNIT).max(30.0 * UNIT);
        ScrollArea::both()
            .id_salt(("recipe", state.recipe.file_name()))
            .max_height(room)
            // a new area does not know its height in its first frame
            .min_scrolled_height(room)
            .auto_shrink([false, false])
            .show(ui, |ui| {
                let mut shown = text;
                let field = TextEdit::multiline(&mut shown)
                    .font(eframe::egui::TextStyle::Monospace)
                    .desired_width(f32::INFINITY);
                named(ui.add(field), state.recipe.file_name());
            });
        ui.add_space(UNIT);
        ui.horizontal_wrapped(|ui| {
            let recipe = state.recipe;
            let purpose = || FilePurpose::Recipe(recipe);
            if let Some(to) = state.file.field_ui(ui, true, purpose, words, actions) {
                actions.push(Action::SaveRecipe {
                    recipe,
                    to: to.path,
                    may_replace: to.may_replace,
                });
            }
            let close = ui.button(words.text("lab_screen.elsewhere.close"));
            answers_enter(ui, &close);
            is_done = close.clicked();
        });
        state.file.not_chosen_ui(ui, words);
        match &board.saved {
            Some(Ok(done)) => drop(sign_word_ui(ui, Sign::Ok, words.say(done))),
            Some(Err(why)) => drop(sign_word_ui(ui, Sign::Critical, words.say(why))),
            None => {}
        }
    });
    state.is_open = !(is_done || shown.should_close());
}
