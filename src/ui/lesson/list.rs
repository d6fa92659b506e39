//! All lessons, one under the other: number, title, goal, time.

use eframe::egui::accesskit::Role;
use eframe::egui::{Align, Button, Label, Layout, RichText, Ui, WidgetInfo, vec2};

use super::data::LessonRow;
use crate::model::lesson::LessonOrder;
use crate::model::phrase::phrase;
use crate::ui::action::Action;
use crate::ui::theme::{self, UNIT};
use crate::ui::widgets::Card;
use crate::ui::{Frame, fonts};

const NUMBER: f32 = 9.0 * UNIT;
const BUTTON: f32 = 30.0 * UNIT;

pub fn list_ui(ui: &mut Ui, list: &[LessonRow], frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    ui.label(theme::title(words.text("lesson.list.title")));
    let about = theme::dim(ui, words.text("lesson.list.about"));
    ui.add(Label::new(about).wrap());
    Card::new().show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.5 * UNIT;
        for (n, row) in list.iter().enumerate() {
            if n > 0 {
                ui.separator();
            }
            row_ui(ui, row, frame, actions);
        }
    });
}

fn row_ui(ui: &mut Ui, row: &LessonRow, frame: &Frame<'_>, actions: &mut Vec<Action>) {
    let words = frame.words;
    ui.horizontal_top(|ui| {
        let number =
            RichText::new(row.number.to_string()).font(fonts::semibold(theme::size::TITLE));
        let number = number.color(theme::palette(ui).accent);
        let column = Layout::right_to_left(Align::Min);
        ui.allocate_ui_with_layout(vec2(NUMBER - 3.0 * UNIT, 0.0), column, |ui| {
            ui.set_width(NUMBER - 3.0 * UNIT);
            ui.label(number);
        });
        let width = ui.available_width() - BUTTON;
        ui.allocate_ui_with_layout(vec2(width, 0.0), Layout::top_down(Align::Min), |ui| {
            ui.set_width(width);
            ui.spacing_mut().item_spacing.y = 0.5 * UNIT;
            ui.add(Label::new(theme::strong(&row.title)).wrap());
            ui.add(Label::new(theme::note(ui, &row.goal)).wrap());
        });
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            let name = words.say(&phrase("lesson.begin_this").with("title", row.title.as_str()));
            let button = ui.add(Button::new(words.text("lesson.begin")));
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
            if button.clicked() {
                actions.push(Action::Lesson(LessonOrder::Begin(row.id.clone())));
            }
            ui.label(theme::note(ui, &row.minutes));
        });
    });
}
