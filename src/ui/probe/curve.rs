//! How likely a plain read is stale, against the time since the commit; the band is where the true share lies with
//! 95 % confidence.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align2, Color32, Mesh, Pos2, Rect, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::figures::FiguresData;
use super::timeline::{nice_step, trimmed};
use crate::model::phrase::phrase;
use crate::model::probe::summary::CurvePoint;
use crate::ui::theme::{self, UNIT, size};
use crate::words::Catalogue;

/// One replica's curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub name: String,
    /// Index into the palette's series colours.
    pub color: usize,
    pub points: Vec<CurvePoint>,
}

const HEIGHT: f32 = 45.0 * UNIT;
const LEFT: f32 = 11.0 * UNIT;
const BELOW: f32 = 9.0 * UNIT;

pub fn curve_ui(ui: &mut Ui, words: &Catalogue, figures: &FiguresData) {
    curve_of_height_ui(ui, words, figures, HEIGHT);
}

/// As high as there is room.
pub fn curve_of_height_ui(ui: &mut Ui, words: &Catalogue, figures: &FiguresData, height: f32) {
    ui.label(theme::strong(words.text("probe_screen.curve.title")));
    let (outer, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let told = figures.sentences.join(" ");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &told));
    let inner = Rect::from_min_max(
        outer.min + vec2(LEFT, 2.0 * UNIT),
        outer.max - vec2(3.0 * UNIT, BELOW),
    );
    let end = end_ms(&figures.curves);
    axes_ui(ui, words, inner, end);
    for curve in &figures.curves {
        line_ui(ui, curve, inner, end);
    }
    if let Some(pointer) = response.hover_pos().filter(|at| inner.contains(*at)) {
        let at = f64::from((pointer.x - inner.min.x) / inner.width()) * end;
        let stroke = Stroke::new(1.0, theme::palette(ui).dim);
        ui.painter().vline(pointer.x, inner.y_range(), stroke);
        response.on_hover_text_at_pointer(hover(words, &figures.curves, at));
    }
    legend_ui(ui, &figures.curves);
}

fn end_ms(curves: &[Curve]) -> f64 {
    let ends = curves.iter().filter_map(|curve| curve.points.last());
    ends.map(|point| point.to.millis_f64()).fold(0.1, f64::max)
}

fn hover(words: &Catalogue, curves: &[Curve], at_ms: f64) -> String {
    let is_here =
        |point: &&CurvePoint| point.from.millis_f64() <= at_ms && at_ms <= point.to.millis_f64();
    let mut lines = Vec::new();
    for curve in curves {
        let Some(point) = curve.points.iter().find(is_here) else {
            continue;
        };
        let text = phrase("probe_screen.curve.hover")
            .with("server", curve.name.as_str())
            .with("share", words.percent(point.share.value))
            .with("low", words.percent(point.share.low))
            .with("high", words.percent(point.share.high))
            .with("from", point.from)
            .with("to", point.to)
            .with("n", point.share.count);
        lines.push(words.say(&text));
    }
    if lines.is_empty() {
        return words.text("probe_screen.curve.no_reads").to_owned();
    }
    lines.join("\n")
}

fn axes_ui(ui: &Ui, words: &Catalogue, inner: Rect, end: f64) {
    let palette = theme::palette(ui);
    let painter = ui.painter();
    let grid = Stroke::new(1.0, palette.grid);
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        let y = y_at(inner, share);
        painter.hline(inner.x_range(), y, grid);
        let at = pos2(inner.min.x - 1.5 * UNIT, y);
        let text = words.percent(share);
        painter.text(at, Align2::RIGHT_CENTER, text, theme::tiny(), palette.dim);
    }
    let step = nice_step(end / 5.0);
    for n in 0..=(end / step * 1.001).floor() as usize {
        let millis = n as f64 * step;
        let at = pos2(x_at(inner, end, millis), inner.max.y + UNIT);
        let text = trimmed(millis);
        painter.text(at, Align2::CENTER_TOP, text, theme::tiny(), palette.dim);
    }
    let at = pos2(inner.center().x, inner.max.y + 4.5 * UNIT);
    let text = words.text("probe_screen.curve.axis");
    painter.text(at, Align2::CENTER_TOP, text, theme::tiny(), palette.dim);
}

fn x_at(inner: Rect, end: f64, millis: f64) -> f32 {
    inner.min.x + (millis / end).clamp(0.0, 1.0) as f32 * inner.width()
}

fn y_at(inner: Rect, share: f64) -> f32 {
    inner.max.y - share.clamp(0.0, 1.0) as f32 * inner.height()
}

/// Each stretch at its middle; the first and last reach to their ends, so that a single one is seen too.
fn places(curve: &Curve) -> Vec<(f64, CurvePoint)> {
    let middle = |point: &CurvePoint| (point.from + point.to).half().millis_f64();
    let mut places: Vec<(f64, CurvePoint)> = curve
        .points
        .iter()
        .map(|point| (middle(point), *point))
        .collect();
    if let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) {
        places.insert(0, (first.from.millis_f64(), *first));
        places.push((last.to.millis_f64(), *last));
    }
    places
}

fn line_ui(ui: &Ui, curve: &Curve, inner: Rect, end: f64) {
    let color = theme::palette(ui).series(curve.color);
    let places = places(curve);
    let at = |millis: f64, share: f64| pos2(x_at(inner, end, millis), y_at(inner, share));
    let mut band = Mesh::default();
    let faint = Color32::from_rgba_unmultiplied(color.r(), color.g(), color.b(), 45);
    for pair in places.windows(2) {
        let [(from, left), (to, right)] = pair else {
            continue;
        };
        let first = band.vertices.len() as u32;
        for corner in [
            at(*from, left.share.low),
            at(*from, left.share.high),
            at(*to, right.share.low),
            at(*to, right.share.high),
        ] {
            band.colored_vertex(corner, faint);
        }
        band.add_triangle(first, first + 1, first + 2);
        band.add_triangle(first + 1, first + 2, first + 3);
    }
    let painter = ui.painter().with_clip_rect(inner.expand(2.0));
    painter.add(Shape::mesh(band));
    let path: Vec<Pos2> = places
        .iter()
        .map(|(millis, point)| at(*millis, point.share.value))
        .collect();
    painter.add(Shape::line(path, Stroke::new(2.0, color)));
}

fn legend_ui(ui: &mut Ui, curves: &[Curve]) {
    ui.horizontal_wrapped(|ui| {
        for curve in curves {
            let color = theme::palette(ui).series(curve.color);
            let (rect, _) = ui.allocate_exact_size(vec2(4.0 * UNIT, size::SMALL), Sense::hover());
            let stroke = Stroke::new(2.0, color);
            ui.painter().hline(rect.x_range(), rect.center().y, stroke);
            ui.label(theme::note(ui, &curve.name));
        }
    });
}
