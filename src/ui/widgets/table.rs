//! A table that can be sorted by any column and draws only the rows that are seen, so thousands cost no more than a
//! screenful.
//!
//! The table does not sort: it tells by which column, and who holds the rows puts them in order once, not each frame.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Layout, Rect, Response, RichText, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo,
    pos2, vec2,
};
use egui_extras::{TableBuilder, TableRow};

use crate::ui::theme::{self, UNIT, size};

/// A column: its heading, how wide, and on which side its values stand.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub title: &'a str,
    pub width: f32,
    pub numbers: bool,
    pub takes_the_rest: bool,
}

impl<'a> Column<'a> {
    /// Words, aligned left.
    pub fn words(title: &'a str, width: f32) -> Self {
        Column {
            title,
            width,
            numbers: false,
            takes_the_rest: false,
        }
    }

    /// Numbers, aligned right.
    pub fn numbers(title: &'a str, width: f32) -> Self {
        Column {
            numbers: true,
            ..Column::words(title, width)
        }
    }

    /// As wide as what the others leave, at least `width`. For one column only.
    pub fn rest(self) -> Self {
        Column {
            takes_the_rest: true,
            ..self
        }
    }

    fn width(self) -> egui_extras::Column {
        if self.takes_the_rest {
            egui_extras::Column::remainder()
                .at_least(self.width)
                .clip(true)
        } else {
            egui_extras::Column::exact(self.width).clip(true)
        }
    }

    fn layout(self) -> Layout {
        if self.numbers {
            Layout::right_to_left(Align::Center)
        } else {
            Layout::left_to_right(Align::Center)
        }
    }
}

/// By which column the rows are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting {
    pub column: usize,
    pub descending: bool,
}

impl Sorting {
    pub fn by(column: usize) -> Self {
        Sorting {
            column,
            descending: false,
        }
    }

    /// The same column once more turns the order round.
    fn press(&mut self, column: usize) {
        *self = Sorting {
            column,
            descending: self.column == column && !self.descending,
        };
    }
}

/// What the person did with a table in this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableInput {
    /// The order changed: sort again.
    pub resort: bool,
    pub clicked_row: Option<usize>,
}

const ROW: f32 = 6.5 * UNIT;

/// What a table shows.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Tells apart tables on one screen; not shown.
    pub name: &'a str,
    pub columns: &'a [Column<'a>],
    pub rows: usize,
    pub selected: Option<usize>,
}

/// Draws the headings and the rows that are seen; `cell(ui, row, column)` draws one cell.
pub fn table_ui(
    ui: &mut Ui,
    table: Table<'_>,
    sorting: &mut Sorting,
    cell: impl FnMut(&mut Ui, usize, usize),
) -> TableInput {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        rows_ui(ui, table, sorting, cell)
    })
    .inner
}

fn rows_ui(
    ui: &mut Ui,
    table: Table<'_>,
    sorting: &mut Sorting,
    mut cell: impl FnMut(&mut Ui, usize, usize),
) -> TableInput {
    let mut input = TableInput::default();
    // under the headings; here, because a cell may not paint into the gap beside it
    let place = ui.available_rect_before_wrap();
    let line = Stroke::new(1.0, theme::palette(ui).line);
    ui.painter()
        .hline(place.x_range(), place.min.y + ROW - 0.5, line);
    let mut builder = TableBuilder::new(ui)
        .id_salt(table.name)
        .sense(Sense::click())
        .auto_shrink([false, true])
        .cell_layout(Layout::left_to_right(Align::Center));
    for column in table.columns {
        builder = builder.column(column.width());
    }
    let order = *sorting;
    let headed = builder.header(ROW, |mut header| {
        for (n, column) in table.columns.iter().enumerate() {
            header.col(|ui| {
                if heading_ui(ui, *column, (order.column == n).then_some(order)).clicked() {
                    sorting.press(n);
                    input.resort = true;
                }
            });
        }
    });
    headed.body(|body| {
        body.rows(ROW, table.rows, |mut row| {
            let index = row.index();
            row.set_selected(table.selected == Some(index));
            row_ui(&mut row, table.columns, |ui, column| {
                cell(ui, index, column)
            });
            if row.response().clicked() {
                input.clicked_row = Some(index);
            }
        });
    });
    input
}

fn row_ui(
    row: &mut TableRow<'_, '_>,
    columns: &[Column<'_>],
    mut cell: impl FnMut(&mut Ui, usize),
) {
    for (n, column) in columns.iter().enumerate() {
        row.col(|ui| {
            ui.with_layout(column.layout(), |ui| {
                ui.style_mut().wrap_mode = Some(eframe::egui::TextWrapMode::Truncate);
                cell(ui, n);
            });
        });
    }
}

fn heading_ui(ui: &mut Ui, column: Column<'_>, order: Option<Sorting>) -> Response {
    let palette = theme::palette(ui);
    let place = ui.max_rect();
    let response = ui.interact(place, ui.scope_id().with("heading"), Sense::click());
    let color = if response.hovered() || order.is_some() {
        palette.text
    } else {
        palette.dim
    };
    ui.with_layout(column.layout(), |ui| {
        ui.spacing_mut().item_spacing.x = UNIT;
        let title = RichText::new(column.title).size(size::SMALL).color(color);
        let label = eframe::egui::Label::new(title).truncate().selectable(false);
        ui.add(label);
        if let Some(order) = order {
            let (rect, _) = ui.allocate_exact_size(vec2(8.0, ROW), Sense::hover());
            paint_arrow(ui, rect, order.descending);
        }
    });
    if response.has_focus() {
        let ring = Stroke::new(1.5, palette.accent);
        ui.painter()
            .rect_stroke(place.shrink(1.0), 3.0, ring, StrokeKind::Inside);
    }
    response.widget_info(|| {
        WidgetInfo::selected(Role::ColumnHeader, true, order.is_some(), column.title)
    });
    response
}

/// A small triangle: up for ascending, down for descending.
fn paint_arrow(ui: &Ui, place: Rect, descending: bool) {
    let color = theme::palette(ui).dim;
    let middle = place.center();
    let tip = if descending { 2.5 } else { -2.5 };
    let corners = vec![
        pos2(middle.x, middle.y + tip),
        pos2(middle.x - 3.5, middle.y - tip),
        pos2(middle.x + 3.5, middle.y - tip),
    ];
    ui.painter()
        .add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressing_a_heading_twice_turns_the_order_round() {
        let mut sorting = Sorting::by(0);
        sorting.press(2);
        assert_eq!(sorting, Sorting::by(2));
        sorting.press(2);
        assert_eq!(
            sorting,
            Sorting {
                column: 2,
                descending: true
            }
        );
        sorting.press(2);
        assert_eq!(sorting, Sorting::by(2));
    }
}
