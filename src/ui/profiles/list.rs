//! The topologies there are: a line each, and what can be done without one.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Label, Response, ScrollArea, Sense, Sides, Stroke, StrokeKind, TextEdit, Ui, UiBuilder,
    WidgetInfo, vec2,
};

use super::{ProfileLine, ProfilesData};
use crate::model::profile::TopologyId;
use crate::ui::Frame;
use crate::ui::theme::{self, SMALL_CORNER, UNIT};
use crate::ui::widgets::environment_badge_ui;

/// What the person did in the list.
#[derive(Clone, Debug, PartialEq)]
pub enum ListInput {
    Edit(TopologyId),
    Add,
    Import,
    Export,
}

pub fn list_ui(
    ui: &mut Ui,
    data: &ProfilesData,
    filter: &mut String,
    selected: Option<&TopologyId>,
    frame: &Frame<'_>,
) -> Option<ListInput> {
    let words = frame.words;
    let mut input = None;
    ui.horizontal(|ui| {
        ui.label(theme::title(words.text("profiles.title")));
    });
    let field = TextEdit::singleline(filter)
        .hint_text(words.text("profiles.filter").to_owned())
        .desired_width(f32::INFINITY);
    super::fields::named(ui.add(field), words.text("profiles.filter"));
    ui.horizontal_wrapped(|ui| {
        if ui.button(words.text("profiles.add")).clicked() {
            input = Some(ListInput::Add);
        }
        if ui.button(words.text("profiles.import")).clicked() {
            input = Some(ListInput::Import);
        }
        let export = ui.add_enabled_ui(!data.lines.is_empty(), |ui| {
            ui.button(words.text("profiles.export"))
        });
        if export.inner.clicked() {
            input = Some(ListInput::Export);
        }
    });
    ui.add_space(UNIT);
    let shown: Vec<&ProfileLine> = data.lines.iter().filter(|l| l.matches(filter)).collect();
    ScrollArea::vertical()
        .id_salt("profiles")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
            for line in &shown {
                if line_ui(ui, line, selected == Some(&line.id), frame).clicked() {
                    input = Some(ListInput::Edit(line.id.clone()));
                }
            }
            if shown.is_empty() && !data.lines.is_empty() {
                ui.label(theme::dim(ui, words.text("profiles.none_matches")));
            }
        });
    input
}

const LINE: f32 = 13.5 * UNIT;

fn line_ui(ui: &mut Ui, line: &ProfileLine, selected: bool, frame: &Frame<'_>) -> Response {
    let size = vec2(ui.available_width(), LINE);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, &line.name));
    let palette = theme::palette(ui);
    let behind = match (selected, response.hovered()) {
        (true, _) => Some(palette.selected),
        (false, true) => Some(palette.hovered),
        (false, false) => None,
    };
    if let Some(color) = behind {
        ui.painter().rect_filled(rect, SMALL_CORNER, color);
    }
    if response.has_focus() {
        let ring = Stroke::new(1.5, palette.accent);
        ui.painter()
            .rect_stroke(rect, SMALL_CORNER, ring, StrokeKind::Inside);
    }
    let inside = UiBuilder::new().max_rect(rect.shrink2(vec2(2.0 * UNIT, 1.5 * UNIT)));
    ui.scope_builder(inside, |ui| {
        ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
        Sides::new().shrink_left().truncate().show(
            ui,
            |ui| ui.label(theme::strong(&line.name)),
            |ui| environment_badge_ui(ui, frame.words, line.environment),
        );
        ui.add(Label::new(theme::note(ui, &line.summary)).truncate());
    });
    response
}
