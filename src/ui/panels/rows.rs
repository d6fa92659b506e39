//! A small table inside a panel: as many rows as there are, columns in shares of the width. Long ones say what they
//! leave out; for thousands of rows there is `widgets::table_ui`.

use eframe::egui::{Align, Label, Layout, RichText, Sense, Stroke, TextStyle, Ui, vec2};

use super::{Cell, Rows};
use crate::ui::theme::{self, UNIT, size};
use crate::ui::widgets::sign_ui;
use crate::words::Catalogue;

const ROW: f32 = 5.5 * UNIT;

pub fn rows_ui(ui: &mut Ui, words: &Catalogue, rows: &Rows) {
    let widths = widths(rows, ui.available_width());
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing = vec2(GAP, 0.0);
        ui.horizontal(|ui| {
            for (column, width) in rows.columns.iter().zip(&widths) {
                let title = theme::dim(ui, &column.title).size(size::SMALL);
                cell_frame_ui(ui, *width, column.numbers, |ui| {
                    ui.add(Label::new(title).truncate());
                });
            }
        });
        let line = Stroke::new(1.0, theme::palette(ui).line);
        let place = ui.max_rect();
        ui.painter()
            .hline(place.x_range(), ui.cursor().min.y - 1.0, line);
        for row in &rows.rows {
            ui.horizontal(|ui| {
                for ((cell, column), width) in row.iter().zip(&rows.columns).zip(&widths) {
                    cell_frame_ui(ui, *width, column.numbers, |ui| {
                        cell_ui(ui, words, cell, column.numbers)
                    });
                }
            });
        }
    });
    if let Some(more) = &rows.more {
        ui.label(theme::note(ui, more));
    }
}

const GAP: f32 = 4.0 * UNIT;

fn widths(rows: &Rows, available: f32) -> Vec<f32> {
    let shares: f32 = rows.columns.iter().map(|column| column.share).sum();
    let gaps = GAP * rows.columns.len().saturating_sub(1) as f32;
    let room = (available - gaps).max(0.0);
    rows.columns
        .iter()
        .map(|column| (room * column.share / shares.max(0.01)).floor())
        .collect()
}

fn cell_frame_ui(ui: &mut Ui, width: f32, numbers: bool, content: impl FnOnce(&mut Ui)) {
    let layout = if numbers {
        Layout::right_to_left(Align::Center)
    } else {
        Layout::left_to_right(Align::Center)
    };
    ui.allocate_ui_with_layout(vec2(width, ROW), layout, |ui| {
        ui.set_min_size(vec2(width, ROW));
        ui.set_max_width(width);
        ui.spacing_mut().item_spacing.x = UNIT;
        content(ui);
    });
}

fn cell_ui(ui: &mut Ui, words: &Catalogue, cell: &Cell, numbers: bool) {
    let mut text = RichText::new(cell.text.lines().next().unwrap_or(""))
        .color(cell.tone.color(theme::palette(ui)));
    if cell.mono {
        text = text.text_style(TextStyle::Monospace);
    }
    // The sign stands left of the text; numbers are laid out from the right
    let sign = cell.tone.sign();
    if let Some(sign) = sign.filter(|_| !numbers) {
        sign_ui(ui, words, sign);
    }
    let label = Label::new(text).truncate();
    match &cell.copies {
        Some(whole) => {
            let shown = ui.add(label.sense(Sense::click()));
            if shown.clicked() {
                ui.ctx().copy_text(whole.clone());
            }
            shown.on_hover_text(&cell.hover);
        }
        None => {
            let shown = ui.add(label);
            if !cell.hover.is_empty() {
                shown.on_hover_text(&cell.hover);
            }
        }
    }
    if let Some(sign) = sign.filter(|_| numbers) {
        sign_ui(ui, words, sign);
    }
}
