//! The faults of the lab on a plot: the time each lasts is shaded, with its name at the top, below those it overlaps.

use eframe::egui::accesskit::Role;
use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{Rect, Sense, Stroke, Ui, WidgetInfo, pos2};
use egui_plot::PlotTransform;

use super::{FaultSpan, PlotData};
use crate::model::time::Moment;
use crate::ui::theme::{self, UNIT, palette};

/// The height of one name.
const ROW: f32 = 4.0 * UNIT;
/// So many names are told apart; further ones share the last row.
const ROWS: usize = 5;

/// The shades, behind whatever is drawn next. Where several faults overlap it is not darker: the lines are to be seen.
pub fn shades_ui(ui: &Ui, data: &PlotData, area: Rect, bottom: f32, transform: &PlotTransform) {
    let colors = palette(ui);
    let painter = ui.painter().with_clip_rect(area.with_max_y(bottom));
    let heights = area.min.y..=bottom;
    let edge = Stroke::new(1.0, colors.accent.gamma_multiply(0.7));
    let ranges = data.faults.iter().map(|span| {
        let left = x_at(span.from, area, transform);
        let right = x_at(span.to, area, transform).max(left + 2.0);
        painter.vline(left, heights.clone(), edge);
        if !span.lasts {
            painter.vline(right, heights.clone(), edge);
        }
        (left, right)
    });
    for (left, right) in merged(ranges.collect()) {
        let shade = Rect::from_x_y_ranges(left..=right, heights.clone());
        painter.rect_filled(shade, 0.0, colors.accent.gamma_multiply(0.08));
    }
}

/// Those that overlap or touch become one.
fn merged(mut ranges: Vec<(f32, f32)>) -> Vec<(f32, f32)> {
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f32, f32)> = Vec::new();
    for (left, right) in ranges {
        match merged.last_mut().filter(|last| left <= last.1) {
            Some(last) => last.1 = last.1.max(right),
            None => merged.push((left, right)),
        }
    }
    merged
}

/// The names, over everything.
pub fn names_ui(ui: &Ui, data: &PlotData, area: Rect, transform: &PlotTransform) {
    let mut ends: Vec<f32> = Vec::new();
    for (n, span) in data.faults.iter().enumerate() {
        let width = name_width(ui, span, area);
        // at the right edge a name begins before its shade
        let left = x_at(span.from, area, transform).min(area.max.x - width);
        let left = left.max(area.min.x);
        let row = free_row(&mut ends, left, left + width);
        name_ui(ui, (n, span), left, row, width, area);
    }
}

fn x_at(at: Moment, area: Rect, transform: &PlotTransform) -> f32 {
    let x = transform.position_from_point_x(at.unix_secs_f64());
    x.clamp(area.min.x, area.max.x)
}

fn name_width(ui: &Ui, span: &FaultSpan, area: Rect) -> f32 {
    let color = palette(ui).text;
    let painter = ui.painter();
    let galley = painter.layout_no_wrap(span.label.clone(), theme::tiny(), color);
    (galley.size().x + 2.0 * UNIT).min(area.width())
}

/// The first row whose last name ends before this one begins.
fn free_row(ends: &mut Vec<f32>, left: f32, right: f32) -> usize {
    let free = ends.iter().position(|end| *end <= left);
    match free {
        Some(row) => ends[row] = right,
        None => ends.push(right),
    }
    free.unwrap_or(ends.len() - 1).min(ROWS - 1)
}

fn name_ui(ui: &Ui, (n, span): (usize, &FaultSpan), left: f32, row: usize, width: f32, area: Rect) {
    let colors = palette(ui);
    // under the triangles of the events
    let top = area.min.y + 2.5 * UNIT + row as f32 * ROW;
    let place = Rect::from_min_max(pos2(left, top), pos2(left + width, top + ROW));
    let mut job = LayoutJob::simple_singleline(span.label.clone(), theme::tiny(), colors.text);
    job.wrap = TextWrapping::truncate_at_width(width - 2.0 * UNIT);
    let galley = ui.painter().layout_job(job);
    let painter = ui.painter().with_clip_rect(area);
    painter.rect_filled(place.shrink(0.5), 2.0, colors.area(colors.accent));
    let at = pos2(left + UNIT, place.center().y - galley.size().y / 2.0);
    painter.galley(at, galley, colors.text);
    let id = ui.scope_id().with(("fault", n));
    let response = ui.interact(place.intersect(area), id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &span.label));
    response.on_hover_text(&span.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_overlap_are_shaded_once() {
        let ranges = vec![(60.0, 70.0), (0.0, 50.0), (20.0, 30.0), (50.0, 55.0)];
        assert_eq!(merged(ranges), [(0.0, 55.0), (60.0, 70.0)]);
    }

    #[test]
    fn names_that_would_overlap_stand_in_rows_of_their_own() {
        let mut ends = Vec::new();
        let rows: Vec<usize> = [(0.0, 50.0), (20.0, 70.0), (60.0, 90.0), (65.0, 80.0)]
            .into_iter()
            .map(|(left, right)| free_row(&mut ends, left, right))
            .collect();
        assert_eq!(rows, [0, 1, 0, 2]);
    }
}
