//! The clocks of a replica and its source against ours, over time: signed, on a linear axis around zero. Painted
//! directly; gaps stay gaps.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align2, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use crate::model::time::{Moment, Span};
use crate::store::series::Column;
use crate::ui::theme::{self, UNIT};
use crate::words::Catalogue;

#[derive(Clone, Debug, PartialEq)]
pub struct ClockPlot {
    pub from: Moment,
    pub to: Moment,
    pub lines: Vec<ClockLine>,
}

/// A line in stretches without a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockLine {
    pub name: String,
    /// Which series colour.
    pub color: usize,
    /// Time and the lowest and highest seconds there.
    pub runs: Vec<Vec<(Moment, f32, f32)>>,
}

impl ClockLine {
    pub fn new(name: String, color: usize, columns: &[Column]) -> Self {
        let runs = columns
            .split(|column| column.extremes.is_none())
            .filter(|run| !run.is_empty())
            .map(|run| {
                run.iter()
                    .filter_map(|column| column.extremes.map(|(min, max)| (column.at, min, max)))
                    .collect()
            })
            .collect();
        ClockLine { name, color, runs }
    }

    /// What was measured nearest to an instant, if that is near enough to be meant.
    fn near(&self, at: Moment, within: Span) -> Option<f32> {
        let points = self.runs.iter().flatten();
        let nearest = points.min_by_key(|(time, ..)| time.since(at).abs())?;
        (nearest.0.since(at).abs() <= within).then_some(nearest.2)
    }
}

impl ClockPlot {
    fn values(&self) -> impl Iterator<Item = f32> + '_ {
        let points = self
            .lines
            .iter()
            .flat_map(|line| line.runs.iter().flatten());
        points.flat_map(|(_, min, max)| [*min, *max])
    }

    /// How far the axis reaches to both sides of zero.
    fn reach(&self) -> f32 {
        let farthest = self
            .values()
            .fold(0.0, |far, value| f32::max(far, value.abs()));
        farthest.max(1e-3) * 1.2
    }

    fn ticks(&self) -> [f32; 3] {
        let tick = self.reach() / 1.2;
        [-tick, 0.0, tick]
    }

    /// 0 at the bottom, 1 at the top.
    fn height(&self, value: f32) -> f32 {
        let reach = self.reach();
        ((value + reach) / (2.0 * reach)).clamp(0.0, 1.0)
    }
}

/// Room for the axis' labels.
const LEFT: f32 = 17.0 * UNIT;
const BELOW: f32 = 5.0 * UNIT;

pub fn clock_plot_ui(
    ui: &mut Ui,
    words: &Catalogue,
    name: &str,
    plot: &ClockPlot,
    height: f32,
) -> Response {
    let size = vec2(ui.available_width(), height);
    let (outer, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
    let inner = Rect::from_min_max(
        outer.min + vec2(LEFT, 2.0 * UNIT),
        outer.max - vec2(UNIT, BELOW),
    );
    if plot.lines.is_empty() {
        let text = words.text("methods.plot_empty");
        let color = theme::palette(ui).dim;
        let font = eframe::egui::TextStyle::Body.resolve(ui.style());
        ui.painter()
            .text(outer.center(), Align2::CENTER_CENTER, text, font, color);
        return response;
    }
    axes_ui(ui, words, plot, inner);
    for line in &plot.lines {
        line_ui(ui, plot, line, inner);
    }
    if let Some(pointer) = response.hover_pos().filter(|at| inner.contains(*at)) {
        hover_ui(ui, words, plot, inner, pointer);
    }
    response
}

fn axes_ui(ui: &Ui, words: &Catalogue, plot: &ClockPlot, inner: Rect) {
    let palette = theme::palette(ui);
    let painter = ui.painter();
    let grid = Stroke::new(1.0, palette.grid);
    for tick in plot.ticks() {
        let y = y_at(plot, inner, tick);
        painter.hline(inner.x_range(), y, grid);
        let text = words.span(Span::from_secs_f64(f64::from(tick)));
        let at = pos2(inner.min.x - 2.0 * UNIT, y);
        painter.text(at, Align2::RIGHT_CENTER, text, theme::tiny(), palette.dim);
    }
    let window = plot.to.since(plot.from);
    for n in 0..=4 {
        let share = n as f32 / 4.0;
        let x = inner.min.x + share * inner.width();
        painter.vline(x, inner.y_range(), grid);
        let back = Span::from_secs_f64(window.secs_f64() * f64::from(1.0 - share));
        let text = match n {
            4 => words.text("methods.now").to_owned(),
            _ => format!("−{}", words.span(back)),
        };
        let anchor = match n {
            0 => Align2::LEFT_TOP,
            4 => Align2::RIGHT_TOP,
            _ => Align2::CENTER_TOP,
        };
        painter.text(
            pos2(x, inner.max.y + UNIT),
            anchor,
            text,
            theme::tiny(),
            palette.dim,
        );
    }
}

fn x_at(plot: &ClockPlot, inner: Rect, at: Moment) -> f32 {
    let share = at.since(plot.from).secs_f64() / plot.to.since(plot.from).secs_f64().max(1e-9);
    inner.min.x + (share.clamp(0.0, 1.0) as f32) * inner.width()
}

fn y_at(plot: &ClockPlot, inner: Rect, value: f32) -> f32 {
    inner.max.y - plot.height(value) * inner.height()
}

/// The highest values as a line; where a column holds a range, the range as a stroke behind it.
fn line_ui(ui: &Ui, plot: &ClockPlot, line: &ClockLine, inner: Rect) {
    let color = theme::palette(ui).series(line.color);
    let painter = ui.painter().with_clip_rect(inner.expand(1.0));
    for run in &line.runs {
        let mut path: Vec<Pos2> = Vec::with_capacity(run.len());
        for (at, min, max) in run {
            let x = x_at(plot, inner, *at);
            let (low, high) = (y_at(plot, inner, *min), y_at(plot, inner, *max));
            if low - high > 1.0 {
                painter.vline(x, high..=low, Stroke::new(1.0, color.gamma_multiply(0.5)));
            }
            path.push(pos2(x, high));
        }
        match path.as_slice() {
            [alone] => drop(painter.circle_filled(*alone, 1.5, color)),
            _ => drop(painter.add(Shape::line(path, Stroke::new(1.5, color)))),
        }
    }
}

/// A thin line at the pointer, and what each method said there.
fn hover_ui(ui: &Ui, words: &Catalogue, plot: &ClockPlot, inner: Rect, pointer: Pos2) {
    let palette = theme::palette(ui);
    let share = f64::from((pointer.x - inner.min.x) / inner.width().max(1.0));
    let window = plot.to.since(plot.from);
    let at = plot.from + Span::from_secs_f64(window.secs_f64() * share);
    let near = Span::from_secs_f64(window.secs_f64() / 60.0).max(Span::from_secs(2));
    ui.painter()
        .vline(pointer.x, inner.y_range(), Stroke::new(1.0, palette.dim));
    let mut text = vec![(words.ago(plot.to.since(at)), palette.dim)];
    for line in &plot.lines {
        let value = line.near(at, near).map_or_else(
            || words.text("sign.unknown").to_owned(),
            |value| words.span(Span::from_secs_f64(f64::from(value))),
        );
        text.push((
            format!("{}  {value}", line.name),
            palette.series(line.color),
        ));
    }
    let painter = ui.painter();
    let galleys: Vec<_> = text
        .into_iter()
        .map(|(text, color)| (painter.layout_no_wrap(text, theme::tiny(), color), color))
        .collect();
    let width = galleys.iter().map(|(g, _)| g.size().x).fold(0.0, f32::max) + 4.0 * UNIT;
    let row = 4.0 * UNIT;
    let size = vec2(width, row * galleys.len() as f32 + 2.0 * UNIT);
    let left = if pointer.x + width + 3.0 * UNIT > inner.max.x {
        pointer.x - width - 3.0 * UNIT
    } else {
        pointer.x + 3.0 * UNIT
    };
    let place = Rect::from_min_size(pos2(left, inner.min.y + 2.0 * UNIT), size);
    painter.rect(
        place,
        6.0,
        palette.card,
        Stroke::new(1.0, palette.line),
        eframe::egui::StrokeKind::Inside,
    );
    for (n, (galley, color)) in galleys.into_iter().enumerate() {
        let at = place.min + vec2(2.0 * UNIT, UNIT + row * n as f32);
        painter.galley(at, galley, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Moment {
        Moment::from_unix_micros(secs * 1_000_000)
    }

    fn plot(values: &[Option<f32>]) -> ClockPlot {
        let columns: Vec<Column> = values
            .iter()
            .enumerate()
            .map(|(n, value)| Column {
                at: at(n as i64),
                extremes: value.map(|v| (v, v)),
            })
            .collect();
        ClockPlot {
            from: at(0),
            to: at(10),
            lines: vec![ClockLine::new("a".into(), 0, &columns)],
        }
    }

    #[test]
    fn a_gap_splits_the_line() {
        let plot = plot(&[Some(0.1), Some(0.2), None, Some(0.3)]);
        let lengths: Vec<usize> = plot.lines[0].runs.iter().map(Vec::len).collect();
        assert_eq!(lengths, [2, 1]);
    }

    #[test]
    fn a_clock_may_be_behind() {
        let plot = plot(&[Some(-0.5), Some(0.1)]);
        assert!(plot.height(-0.5) < 0.5 && plot.height(0.1) > 0.5);
        assert_eq!(plot.height(0.0), 0.5);
    }
}
