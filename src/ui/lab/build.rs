//! No lab yet: one press starts the usual one; folded under it, everything that can be chosen.

use std::path::PathBuf;

use eframe::egui::{Checkbox, Grid, Label, TextEdit, Ui};

use super::board::{FoundProgram, LabBoard};
use super::wording::{generation_name, plan_phrase};
use super::{Failed, LabState, elsewhere, failed_ui};
use crate::model::lab::{Generation, Ground, LabPlan, MOST_REAL_REPLICAS, MOST_REPLICAS, Shape};
use crate::model::phrase::phrase;
use crate::model::server::Flavour;
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::{Action, FilePurpose};
use crate::ui::profiles::{choice_ui, named};
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::{
    Card, Sign, notice_ui, primary_button_ui, quiet_button_ui, segments_ui, sign_word_ui,
};

/// What the servers are made of, as it is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroundChoice {
    #[default]
    Simulated,
    Real(Kind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    MySql,
    MariaDb,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShapeChoice {
    #[default]
    Fan,
    Chain,
    MultiSource,
    Delayed,
}

/// A lab as far as it is chosen.
#[derive(Clone, Debug)]
pub struct Draft {
    pub ground: GroundChoice,
    pub generation: Generation,
    pub shape: ShapeChoice,
    pub delay_secs: u32,
    pub replicas: u32,
    pub semi_sync: bool,
    pub applier_workers: u32,
    pub tls: bool,
    pub seed: u64,
    /// A server program that the person showed us.
    pub program: Option<PathBuf>,
}

impl Default for Draft {
    fn default() -> Self {
        let plan = LabPlan::default();
        Draft {
            ground: GroundChoice::default(),
            generation: Generation::default(),
            shape: ShapeChoice::default(),
            delay_secs: 10,
            replicas: plan.replicas,
            semi_sync: plan.semi_sync,
            applier_workers: plan.applier_workers,
            tls: plan.tls,
            seed: plan.seed,
            program: None,
        }
    }
}

impl Draft {
    fn is_real(&self) -> bool {
        self.ground != GroundChoice::Simulated
    }

    fn flavour(&self) -> Option<Flavour> {
        match self.ground {
            GroundChoice::Simulated => None,
            GroundChoice::Real(Kind::MySql) => Some(Flavour::MySql),
            GroundChoice::Real(Kind::MariaDb) => Some(Flavour::MariaDb),
        }
    }

    pub fn plan(&self) -> LabPlan {
        let most = if self.is_real() {
            MOST_REAL_REPLICAS
        } else {
            MOST_REPLICAS
        };
        LabPlan {
            ground: match self.flavour() {
                None => Ground::Simulated(self.generation),
                Some(flavour) => Ground::Real(flavour),
            },
            shape: match self.shape {
                ShapeChoice::Fan => Shape::Fan,
                ShapeChoice::Chain => Shape::Chain,
                ShapeChoice::MultiSource => Shape::MultiSource,
                ShapeChoice::Delayed => Shape::Delayed {
                    delay: Span::from_secs(i64::from(self.delay_secs)),
                },
            },
            replicas: self.replicas.clamp(1, most),
            semi_sync: self.semi_sync,
            applier_workers: self.applier_workers,
            tls: self.tls && !self.is_real(),
            seed: self.seed,
            ..LabPlan::default()
        }
    }

    /// What the chosen real servers are, if any are there.
    fn found<'a>(&self, board: &'a LabBoard) -> Option<&'a FoundProgram> {
        let flavour = self.flavour()?;
        board.found.iter().flatten().find(|f| f.flavour == flavour)
    }

    /// Its real servers were looked for, and there are none, or not where the person said.
    fn is_known_missing(&self, board: &LabBoard) -> bool {
        let none_found = board.found.is_some() && self.found(board).is_none();
        self.is_real() && (none_found || board.useless.is_some())
    }
}

/// In the middle of the screen.
pub fn build_ui(
    ui: &mut Ui,
    (board, failed): (&LabBoard, Option<&Failed>),
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let width = ui.available_width().min(150.0 * UNIT);
    let side = ((ui.available_width() - width) / 2.0).max(0.0);
    // the same folded or not: what was pressed stays under the pointer
    ui.add_space((ui.available_height() * 0.05).min(8.0 * UNIT));
    ui.horizontal_top(|ui| {
        ui.add_space(side);
        ui.vertical(|ui| {
            ui.set_width(width);
            if let Some(failed) = failed {
                failed_ui(ui, failed, frame);
                ui.add_space(2.0 * UNIT);
            }
            if let Some(why) = &board.refused {
                notice_ui(ui, Sign::Critical, &words.say(why), None);
                ui.add_space(2.0 * UNIT);
            }
            start_ui(ui, board, state, frame, actions);
        });
    });
}

fn start_ui(
    ui: &mut Ui,
    board: &LabBoard,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.label(theme::title(words.text("lab_screen.none.title")));
    ui.add(Label::new(theme::dim(ui, words.text("lab_screen.none.text"))).wrap());
    ui.add_space(3.0 * UNIT);
    ui.horizontal(|ui| {
        let start = words.text("lab_screen.start");
        let may_start = !state.draft.is_known_missing(board);
        let start = ui.add_enabled_ui(may_start, |ui| big_button_ui(ui, start));
        let why = words.text("lab_screen.not_found");
        start.response.on_disabled_hover_text(why);
        if start.inner {
            let (plan, program) = state.chosen();
            actions.push(Action::StartLab { plan, program });
        }
        let key = match state.details_open {
            true => "lab_screen.details.fold",
            false => "lab_screen.details.unfold",
        };
        if quiet_button_ui(ui, words.text(key)).clicked() {
            state.details_open = !state.details_open;
            if state.details_open && board.found.is_none() {
                actions.push(Action::LookForServers(None));
            }
        }
        let plan = state.draft.plan();
        elsewhere::button_ui(ui, &plan, &mut state.elsewhere, frame, actions);
    });
    ui.add(
        Label::new(theme::note(
            ui,
            words.say(&plan_phrase(&state.draft.plan())),
        ))
        .wrap(),
    );
    if state.details_open {
        ui.add_space(2.0 * UNIT);
        Card::new().show(ui, |ui| details_ui(ui, board, state, frame, actions));
    }
}

/// The first thing a newcomer is to press.
pub fn big_button_ui(ui: &mut Ui, text: &str) -> bool {
    ui.scope(|ui| {
        ui.spacing_mut().button_padding = eframe::egui::vec2(6.0 * UNIT, 2.5 * UNIT);
        primary_button_ui(ui, text).clicked()
    })
    .inner
}

fn details_ui(
    ui: &mut Ui,
    board: &LabBoard,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    Grid::new("lab plan")
        .num_columns(2)
        .spacing([4.0 * UNIT, 2.0 * UNIT])
        .show(ui, |ui| {
            name_ui(ui, frame, "lab_screen.ground");
            ground_ui(ui, board, state, frame, actions);
            ui.end_row();
            let draft = &mut state.draft;
            name_ui(ui, frame, "lab_screen.shape");
            shape_ui(ui, draft, frame);
            ui.end_row();
            let real = draft.is_real();
            name_ui(ui, frame, "lab_screen.replicas");
            let most = if real {
                MOST_REAL_REPLICAS
            } else {
                MOST_REPLICAS
            };
            draft.replicas = draft.replicas.clamp(1, most);
            let name = words.text("lab_screen.replicas");
            number_ui(ui, name, &mut draft.replicas, 1..=most);
            ui.end_row();
            name_ui(ui, frame, "lab_screen.workers");
            let name = words.text("lab_screen.workers");
            number_ui(ui, name, &mut draft.applier_workers, 1..=32);
            ui.end_row();
            name_ui(ui, frame, "lab_screen.options");
            ui.horizontal_wrapped(|ui| {
                tick_ui(ui, &mut draft.semi_sync, words.text("lab_screen.semi_sync"));
                ui.add_space(2.0 * UNIT);
                let tls = ui.add_enabled_ui(!real, |ui| {
                    tick_ui(ui, &mut draft.tls, words.text("lab_screen.tls"))
                });
                let tls = tls.response;
                tls.on_disabled_hover_text(words.text("lab_screen.tls.simulated_only"));
            });
            ui.end_row();
            name_ui(ui, frame, "lab_screen.seed");
            ui.horizontal(|ui| {
                ui.add_enabled_ui(!real, |ui| {
                    number_ui(
                        ui,
                        words.text("lab_screen.seed"),
                        &mut draft.seed,
                        0..=u64::MAX,
                    );
                });
                let note = match real {
                    true => "lab_screen.seed.simulated_only",
                    false => "lab_screen.seed.note",
                };
                ui.label(theme::note(ui, words.text(note)));
            });
            ui.end_row();
        });
}

fn name_ui(ui: &mut Ui, frame: &Frame<'_>, key: &'static str) {
    ui.label(theme::dim(ui, frame.words.text(key)));
}

fn tick_ui(ui: &mut Ui, is_on: &mut bool, text: &str) {
    ui.visuals_mut().widgets.inactive.bg_stroke.color = theme::palette(ui).dim;
    ui.add(Checkbox::new(is_on, text));
}

fn number_ui<N: eframe::egui::emath::Numeric>(
    ui: &mut Ui,
    name: &str,
    number: &mut N,
    range: std::ops::RangeInclusive<N>,
) {
    let field = eframe::egui::DragValue::new(number).range(range).speed(0.1);
    named(ui.add(field), name);
}

fn ground_ui(
    ui: &mut Ui,
    board: &LabBoard,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    ui.vertical(|ui| {
        let choices = [
            (
                GroundChoice::Simulated,
                words.text("lab_screen.ground.simulated").to_owned(),
            ),
            (
                GroundChoice::Real(Kind::MySql),
                words.text("lab_screen.ground.real_mysql").to_owned(),
            ),
            (
                GroundChoice::Real(Kind::MariaDb),
                words.text("lab_screen.ground.real_mariadb").to_owned(),
            ),
        ];
        segments_ui(ui, &mut state.draft.ground, &choices);
        if state.draft.is_real() {
            real_ui(ui, board, state, frame, actions);
            return;
        }
        let generations = Generation::ALL.map(|g| (g, generation_name(g)));
        let generation = &mut state.draft.generation;
        let width = 40.0 * UNIT;
        let (choice, _) = choice_ui(ui, words, "lab generation", width, generation, &generations);
        named(choice, words.text("lab_screen.generation"));
    });
}

/// What of real servers is there, and how to show us others.
fn real_ui(
    ui: &mut Ui,
    board: &LabBoard,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    if state.is_to_be_looked_at {
        state.is_to_be_looked_at = false;
        actions.push(Action::LookForServers(state.draft.program.clone()));
    }
    match (&board.useless, state.draft.found(board), &board.found) {
        (Some(why), ..) => {
            sign_word_ui(ui, Sign::Warning, words.say(why));
        }
        (None, Some(found), _) => {
            let text = phrase("lab_screen.found")
                .with("name", found.flavour.name())
                .with("version", found.version.as_str())
                .with("path", found.path.display().to_string());
            sign_word_ui(ui, Sign::Ok, words.say(&text));
        }
        (None, None, Some(_)) => {
            sign_word_ui(ui, Sign::Warning, words.text("lab_screen.not_found"));
            ui.add(Label::new(theme::note(ui, words.text("lab_screen.not_found.hint"))).wrap());
        }
        (None, None, None) => {
            sign_word_ui(ui, Sign::Unknown, words.text("lab_screen.looking"));
        }
    }
    ui.horizontal(|ui| {
        ui.add_enabled_ui(!state.choosing, |ui| {
            if ui.button(words.text("lab_screen.choose_program")).clicked() {
                state.choosing = true;
                actions.push(Action::ChooseFile(FilePurpose::LabServer));
            }
        });
        let label = ui.label(theme::dim(ui, words.text("lab_screen.program_path")));
        let width = (ui.available_width() - 2.0 * UNIT).clamp(30.0 * UNIT, 80.0 * UNIT);
        let field = TextEdit::singleline(&mut state.typed_program)
            .hint_text(words.text("lab_screen.program_path.hint"))
            .desired_width(width);
        let field = ui.add(field).labelled_by(label.id);
        let path = state.typed_program.trim();
        if field.lost_focus() {
            let path = (!path.is_empty()).then(|| PathBuf::from(path));
            state.is_to_be_looked_at = state.draft.program != path;
            state.draft.program = path;
        }
    });
    if state.not_chosen {
        ui.label(theme::note(ui, words.text("lab_screen.no_dialog")));
    }
}

fn shape_ui(ui: &mut Ui, draft: &mut Draft, frame: &Frame<'_>) {
    let words = frame.words;
    ui.vertical(|ui| {
        let text = |key: &'static str| words.text(key).to_owned();
        let choices = [
            (ShapeChoice::Fan, text("lab_screen.shape.fan")),
            (ShapeChoice::Chain, text("lab_screen.shape.chain")),
            (
                ShapeChoice::MultiSource,
                text("lab_screen.shape.multi_source"),
            ),
            (ShapeChoice::Delayed, text("lab_screen.shape.delayed")),
        ];
        segments_ui(ui, &mut draft.shape, &choices);
        let note = match draft.shape {
            ShapeChoice::Fan => "lab_screen.shape.fan.note",
            ShapeChoice::Chain => "lab_screen.shape.chain.note",
            ShapeChoice::MultiSource => "lab_screen.shape.multi_source.note",
            ShapeChoice::Delayed => "lab_screen.shape.delayed.note",
        };
        ui.horizontal(|ui| {
            ui.label(theme::note(ui, words.text(note)));
            if draft.shape == ShapeChoice::Delayed {
                let unit = format!(" {}", words.text("unit.s"));
                let field = eframe::egui::DragValue::new(&mut draft.delay_secs)
                    .range(1..=3600)
                    .suffix(unit);
                named(ui.add(field), words.text("lab_screen.delay"));
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_press_starts_the_usual_lab() {
        assert_eq!(Draft::default().plan(), LabPlan::default());
    }

    #[test]
    fn real_servers_are_few_and_have_no_tls_of_ours() {
        let draft = Draft {
            ground: GroundChoice::Real(Kind::MariaDb),
            replicas: 20,
            tls: true,
            ..Draft::default()
        };
        let plan = draft.plan();
        assert_eq!(plan.ground, Ground::Real(Flavour::MariaDb));
        assert_eq!(plan.replicas, MOST_REAL_REPLICAS);
        assert!(!plan.tls);
    }
}
