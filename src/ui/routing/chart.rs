//! Every rule as a point: how often it returns something old against what it adds. Down and left is better.

use eframe::egui::{Align2, Color32, Ui};
use egui_plot::{HLine, Plot, PlotPoint, Points, Text, VLine};

use super::data::RuleRow;
use crate::ui::Frame;
use crate::ui::theme::{self, UNIT};

const HEIGHT: f32 = 60.0 * UNIT;

/// Rules whose share or wait is unknown are left out; the table shows them.
pub fn chart_ui(ui: &mut Ui, rows: &[RuleRow], frame: &Frame<'_>) {
    let words = frame.words;
    let points = places(rows);
    let highest = |of: fn(&Place) -> f64| points.iter().map(of).fold(0.0_f64, f64::max);
    let (most_ms, most_stale) = (
        highest(|place| place.added_ms).max(1.0),
        highest(|place| place.stale_percent).max(1.0),
    );
    let palette = theme::palette(ui);
    let plot = Plot::new("rules chart")
        .height(HEIGHT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show_grid(false)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .include_x(-0.04 * most_ms)
        .include_x(1.12 * most_ms)
        .include_y(-0.08 * most_stale)
        .include_y(1.2 * most_stale)
        .x_axis_label(words.text("rules.chart.added"))
        .y_axis_label(words.text("rules.chart.stale"))
        .y_axis_formatter(|mark, _| match mark.value < 0.0 {
            true => String::new(),
            false => format!("{:.0} %", mark.value),
        })
        .x_axis_formatter(|mark, _| match mark.value < 0.0 {
            true => String::new(),
            false => format!("{:.0} ms", mark.value),
        });
    plot.show(ui, |plot| {
        plot.hline(HLine::new("nothing old", 0.0).color(palette.line));
        plot.vline(VLine::new("nothing added", 0.0).color(palette.line));
        for place in &points {
            let at = [place.added_ms, place.stale_percent];
            let color = match place.stale_percent > 0.0 {
                true => palette.warning,
                false => palette.ok,
            };
            plot.points(dot(&place.label, at, color));
            let above = PlotPoint::new(at[0] + 0.012 * most_ms, at[1] + 0.02 * most_stale);
            let text = theme::strong(&place.label).color(palette.text);
            let name = format!("label {}", place.label);
            plot.text(Text::new(name, above, text).anchor(Align2::LEFT_BOTTOM));
        }
    });
}

fn dot(name: &str, at: [f64; 2], color: Color32) -> Points<'static> {
    Points::new(name.to_owned(), vec![at])
        .radius(4.0)
        .color(color)
}

struct Place {
    label: String,
    added_ms: f64,
    stale_percent: f64,
}

/// Rules at one place share a label: "1, 4, 5".
fn places(rows: &[RuleRow]) -> Vec<Place> {
    let mut places: Vec<(Place, Vec<usize>)> = Vec::new();
    for row in rows {
        let (Some(stale), Some(added)) = (row.stale_share, row.added_spans[1]) else {
            continue;
        };
        let (added_ms, stale_percent) = (added.millis_f64(), stale * 100.0);
        let near = |place: &Place| {
            (place.added_ms - added_ms).abs() < 0.5
                && (place.stale_percent - stale_percent).abs() < 0.5
        };
        match places.iter_mut().find(|(place, _)| near(place)) {
            Some((_, numbers)) => numbers.push(row.number),
            None => places.push((
                Place {
                    label: String::new(),
                    added_ms,
                    stale_percent,
                },
                vec![row.number],
            )),
        }
    }
    places
        .into_iter()
        .map(|(place, numbers)| Place {
            label: numbers
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(", "),
            ..place
        })
        .collect()
}
