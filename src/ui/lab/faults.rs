//! Everything that can be made to go wrong: what, where, how strong, for how long, and the way back.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Button, ComboBox, DragValue, Id, Label, Layout, RichText, Sense, Ui, WidgetInfo, vec2,
};

use super::LabState;
use super::data::{FaultGroup, FaultRow, Running};
use crate::model::lab::{Fault, FaultId, FaultKind, Intensity, IntensityUnit, LabOrder, LabServer};
use crate::model::phrase::phrase;
use crate::model::time::Span;
use crate::ui::Frame;
use crate::ui::action::Action;
use crate::ui::profiles::named;
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::{Card, Sign, sign_word_ui};

/// A fault as it is being chosen.
#[derive(Clone, Copy, Debug)]
pub struct FaultDraft {
    /// None: the first it can happen to.
    on: Option<LabServer>,
    intensity: f64,
    lasts: Option<Span>,
}

/// After these times a fault undoes itself.
const LIMITS: [i64; 4] = [10, 30, 60, 300];

impl FaultDraft {
    fn of(kind: FaultKind) -> Self {
        // these are lived with for a while; the others are seen within a minute
        let stays = matches!(kind, FaultKind::SwapRoles | FaultKind::WriteOnReplica);
        FaultDraft {
            on: None,
            intensity: kind.intensity().map_or(0.0, |i| i.usual),
            lasts: (!stays && !kind.is_momentary()).then_some(Span::from_secs(60)),
        }
    }

    fn fault(&self, row: &FaultRow) -> Option<Fault> {
        Some(Fault {
            kind: row.kind,
            on: self.target(row)?,
            intensity: self.intensity,
            lasts: self.lasts,
        })
    }

    /// Roles change: what was chosen may not be possible any more.
    fn target(&self, row: &FaultRow) -> Option<LabServer> {
        let chosen = self
            .on
            .filter(|on| row.targets.iter().any(|(t, _)| t == on));
        chosen.or_else(|| row.targets.first().map(|(target, _)| *target))
    }
}

pub fn faults_ui(
    ui: &mut Ui,
    running: &Running,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
    two_columns: f32,
) {
    let words = frame.words;
    ui.horizontal(|ui| {
        ui.label(theme::title(words.text("lab_screen.faults")));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let undo = match running.active {
                0 => false,
                _ => ui.button(words.text("lab_screen.undo_all")).clicked(),
            };
            if undo {
                actions.push(Action::Lab(LabOrder::UndoAll));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if running.active > 0 {
                    let text = phrase("lab_screen.active").with("n", running.active);
                    sign_word_ui(ui, Sign::Stopped, words.say(&text));
                    return;
                }
                let text = words.text("lab_screen.faults.text");
                ui.add(Label::new(theme::note(ui, text)).truncate());
            });
        });
    });
    if ui.available_width() < two_columns {
        for group in &running.groups {
            group_ui(ui, group, state, frame, actions);
        }
        return;
    }
    let gap = 3.0 * UNIT;
    let width = (ui.available_width() - gap) / 2.0;
    let (left, right) = running.groups.split_at(running.groups.len() / 2);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        for groups in [left, right] {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.x = 2.0 * UNIT;
                ui.set_width(width);
                for group in groups {
                    group_ui(ui, group, state, frame, actions);
                }
            });
        }
    });
}

fn group_ui(
    ui: &mut Ui,
    group: &FaultGroup,
    state: &mut LabState,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    Card::new().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = UNIT;
        ui.label(theme::strong(group.name.as_str()));
        for row in &group.rows {
            let draft = state
                .faults
                .entry(row.kind)
                .or_insert_with(|| FaultDraft::of(row.kind));
            row_ui(ui, row, draft, frame, actions);
        }
    });
}

/// Widths of what stands right of a fault's name, so that the rows of all groups are aligned.
const TARGET: f32 = 23.0 * UNIT;
const STRENGTH: f32 = 23.0 * UNIT;
const LIMIT: f32 = 22.0 * UNIT;
const MAKE: f32 = 14.0 * UNIT;
const HEIGHT: f32 = 6.5 * UNIT;
const GAP: f32 = 1.5 * UNIT;
/// A fault's name, where there is room for what it does behind it.
const NAME: f32 = 34.0 * UNIT;

fn row_ui(
    ui: &mut Ui,
    row: &FaultRow,
    draft: &mut FaultDraft,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let may = row.impossible.is_none() && !row.targets.is_empty();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let controls = TARGET + STRENGTH + LIMIT + MAKE + 4.0 * GAP;
        let room = (ui.available_width() - controls).max(0.0);
        cell_ui(ui, room, |ui| name_ui(ui, row, may));
        // from left to right, as the tabulator goes
        ui.add_enabled_ui(may, |ui| {
            cell_ui(ui, TARGET, |ui| target_ui(ui, row, draft, frame));
            if row.kind.is_momentary() {
                let width = STRENGTH + GAP + LIMIT;
                cell_ui(ui, width, |ui| strength_ui(ui, row, draft, frame));
            } else {
                cell_ui(ui, STRENGTH, |ui| strength_ui(ui, row, draft, frame));
                cell_ui(ui, LIMIT, |ui| limit_ui(ui, row, draft, frame));
            }
            make_ui(ui, row, draft, frame, actions);
        });
    });
    if let Some(why) = &row.impossible {
        note_ui(ui, why);
    }
    if let Some(why) = &row.failed {
        trouble_ui(ui, why);
    }
    for active in &row.active {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                undo_ui(ui, row, active.id, active.may_undo, frame, actions);
                ui.label(theme::note(ui, active.note.as_str()));
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add_space(2.0 * UNIT);
                    sign_word_ui(ui, Sign::Stopped, active.text.as_str());
                });
            });
        });
        if let Some(why) = &active.trouble {
            trouble_ui(ui, why);
        }
    }
}

fn trouble_ui(ui: &mut Ui, why: &str) {
    ui.horizontal(|ui| {
        ui.add_space(2.0 * UNIT);
        let text = RichText::new(why).size(size::SMALL);
        sign_word_ui(ui, Sign::Critical, text).on_hover_text(why);
    });
}

fn undo_ui(
    ui: &mut Ui,
    row: &FaultRow,
    id: FaultId,
    may: bool,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let name = phrase("lab_screen.undo_this").with("fault", row.name.as_str());
    let button = Button::new(frame.words.text("lab_screen.undo")).min_size(vec2(MAKE, 0.0));
    let button = ui.add_enabled(may, button);
    if named(button, &frame.words.say(&name)).clicked() {
        actions.push(Action::Lab(LabOrder::Undo(id)));
    }
}

fn name_ui(ui: &mut Ui, row: &FaultRow, may: bool) {
    let text = match (may, row.active.is_empty()) {
        (false, _) => theme::dim(ui, row.name.as_str()),
        (true, true) => RichText::new(row.name.as_str()),
        (true, false) => theme::strong(row.name.as_str()),
    };
    let hover = format!("{}\n{}", row.name, row.hint);
    let cut = |text| Label::new(text).truncate().show_tooltip_when_elided(false);
    let name = cut(text);
    if ui.available_width() < 2.0 * NAME {
        ui.add(name).on_hover_text(hover);
        return;
    }
    cell_ui(ui, NAME, |ui| drop(ui.add(name)));
    let hint = theme::note(ui, row.hint.as_str());
    ui.add(cut(hint)).on_hover_text(hover);
}

fn note_ui(ui: &mut Ui, text: &str) {
    ui.horizontal(|ui| {
        ui.add_space(2.0 * UNIT);
        ui.add(Label::new(theme::note(ui, text)).wrap());
    });
}

/// A place of a width, filled from the left.
fn cell_ui(ui: &mut Ui, width: f32, content: impl FnOnce(&mut Ui)) {
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(vec2(width, HEIGHT), layout, |ui| {
        ui.set_width(width);
        content(ui);
    });
}

fn make_ui(
    ui: &mut Ui,
    row: &FaultRow,
    draft: &FaultDraft,
    frame: &Frame<'_>,
    actions: &mut Vec<Action>,
) {
    let words = frame.words;
    let button = Button::new(words.text("lab_screen.make")).min_size(vec2(MAKE, 0.0));
    let button = ui.add(button);
    let name = phrase("lab_screen.make_this").with("fault", row.name.as_str());
    let button = named(button, &words.say(&name));
    if button.on_hover_text(&row.hint).clicked()
        && let Some(fault) = draft.fault(row)
    {
        actions.push(Action::Lab(LabOrder::Make(fault)));
    }
}

fn limit_ui(ui: &mut Ui, row: &FaultRow, draft: &mut FaultDraft, frame: &Frame<'_>) {
    let words = frame.words;
    let text = |limit: Option<Span>| match limit {
        Some(span) => words.span(span),
        None => words.text("lab_screen.no_limit").to_owned(),
    };
    let shown = ComboBox::from_id_salt(Id::unique(("limit", row.kind.code())))
        .width(LIMIT)
        .truncate()
        .selected_text(text(draft.lasts))
        .show_ui(ui, |ui| {
            for limit in LIMITS
                .map(|secs| Some(Span::from_secs(secs)))
                .into_iter()
                .chain([None])
            {
                ui.selectable_value(&mut draft.lasts, limit, text(limit));
            }
        });
    let name = format!("{} {}", row.name, words.text("lab_screen.limit"));
    named(shown.response, &name).on_hover_text(words.text("lab_screen.limit.hint"));
}

fn strength_ui(ui: &mut Ui, row: &FaultRow, draft: &mut FaultDraft, frame: &Frame<'_>) {
    let Some(intensity) = row.intensity else {
        ui.allocate_exact_size(vec2(STRENGTH, HEIGHT), Sense::hover());
        return;
    };
    let words = frame.words;
    let Intensity {
        unit, least, most, ..
    } = intensity;
    let suffix = match unit {
        IntensityUnit::Milliseconds => format!(" {}", words.text("unit.ms")),
        IntensityUnit::Seconds => format!(" {}", words.text("unit.s")),
        IntensityUnit::KilobytesPerSecond => " kB/s".to_owned(),
        IntensityUnit::Rows => format!(" {}", words.text("lab_screen.unit.rows")),
        IntensityUnit::Sessions => format!(" {}", words.text("lab_screen.unit.sessions")),
    };
    let speed = (draft.intensity.abs() * 0.01).max(0.1);
    let is_tenths = unit == IntensityUnit::KilobytesPerSecond && draft.intensity < 10.0;
    let field = DragValue::new(&mut draft.intensity)
        .range(least..=most)
        .speed(speed)
        .custom_formatter(move |value, _| match is_tenths {
            true => format!("{value:.1}"),
            false if value < 0.0 => format!("−{}", words.count(value.abs().round() as u64)),
            false => words.count(value.round() as u64),
        })
        .custom_parser(|text| {
            let plain: String = text.chars().filter(|c| *c != ',').collect();
            plain.trim().replace('−', "-").parse().ok()
        })
        .suffix(suffix);
    let name = format!("{} {}", row.name, words.text("lab_screen.strength"));
    ui.spacing_mut().interact_size.x = STRENGTH;
    named(ui.add(field), &name).on_hover_text(words.text("lab_screen.strength.hint"));
}

fn target_ui(ui: &mut Ui, row: &FaultRow, draft: &mut FaultDraft, frame: &Frame<'_>) {
    let Some(mut target) = draft.target(row) else {
        ui.label(theme::dim(ui, "—"));
        return;
    };
    let name_of = |server: LabServer| {
        let found = row.targets.iter().find(|(target, _)| *target == server);
        found.map_or("", |(_, name)| name.as_str())
    };
    if row.targets.len() == 1 {
        ui.add_space(1.5 * UNIT);
        ui.add(Label::new(theme::dim(ui, name_of(target))).truncate());
        return;
    }
    let before = target;
    let shown = ComboBox::from_id_salt(Id::unique(("target", row.kind.code())))
        .width(TARGET)
        .truncate()
        .selected_text(name_of(target))
        .show_ui(ui, |ui| {
            for (server, name) in &row.targets {
                ui.selectable_value(&mut target, *server, name);
            }
        });
    let label = format!("{} {}", row.name, frame.words.text("lab_screen.target"));
    let value = name_of(before);
    shown.response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, &label);
        info.current_text_value = Some(value.to_owned());
        info
    });
    if target != before {
        draft.on = Some(target);
    }
}
