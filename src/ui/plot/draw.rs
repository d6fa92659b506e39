//! Draws the plot: lines and axes by egui_plot, over and under them what it has no notion of: threshold words, event
//! marks, lanes of states, the cross-hair that reads every line at once.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Align, Align2, Color32, FontId, Grid, Layout, PopupAnchor, Pos2, Rect, Response, Sense, Shape,
    Stroke, Tooltip, Ui, WidgetInfo, pos2, vec2,
};
use egui_plot::{AxisHints, Line, Plot, PlotBounds, PlotPoints, PlotTransform};

use super::axes::{self, moment_at};
use super::{
    EventMark, GuardStretch, LaneStretch, PlotData, PlotLane, PlotState, faults, value_at,
};
use crate::model::time::{Moment, Span};
use crate::ui::theme::{self, Palette, UNIT, palette, size};
use crate::ui::widgets::{Sign, sign_word_ui};
use crate::ui::{Frame, local_time};

/// The height of one lane, with the gap under it.
const LANE: f32 = 4.0 * UNIT;
/// Labels of the axis and names of the lanes have at least, and at most, so much.
const MARGIN: (f32, f32) = (16.0 * UNIT, 36.0 * UNIT);

/// Draws the plot `height` high, lanes included; keeps in `state` what the person looks at.
pub fn lag_plot_ui(
    ui: &mut Ui,
    data: &PlotData,
    state: &mut PlotState,
    frame: &Frame<'_>,
    height: f32,
) {
    let (Some(from), Some(to)) = (data.from, data.to) else {
        return;
    };
    let lanes = data.lanes.len() as f32 * LANE + guard_legend_height(data);
    let margin = margin(ui, data);
    let place = Place {
        from,
        to,
        margin,
        height: (height - lanes).max(30.0 * UNIT),
    };
    let shown = lines_ui(ui, data, frame, &place);
    let transform = shown.transform;
    let area = *transform.frame();
    state.pixels = area.width();
    describe(&shown.response, data);
    let lanes_rect = lanes_ui(ui, data, frame, area, margin, &transform);
    guard_legend_ui(ui, data, frame, area);
    faults::shades_ui(ui, data, area, lanes_rect.max.y, &transform);
    thresholds_ui(ui, data, area, &transform);
    marks_ui(ui, data, area, lanes_rect.max.y, &transform);
    faults::names_ui(ui, data, area, &transform);
    state.take_input(ui, &shown.response, frame.now);
    focus_ring(ui, &shown.response, area);
    cross_hair_ui(ui, data, frame, area.union(lanes_rect), &transform);
}

struct Place {
    from: Moment,
    to: Moment,
    margin: f32,
    height: f32,
}

/// What egui_plot draws: axes, grid, lines. Its own ways to pan, zoom and read values are off; ours know about "now".
fn lines_ui(
    ui: &mut Ui,
    data: &PlotData,
    frame: &Frame<'_>,
    place: &Place,
) -> egui_plot::PlotResponse<()> {
    let colors = palette(ui);
    let words = frame.words;
    let (low, high) = axes::height_range(highest_secs(data));
    let (from, to) = (place.from, place.to);
    let width = ui.available_width() - place.margin;
    let step = axes::time_step(to.since(from), width, 22.0 * UNIT);
    // A label is centred on its mark: one too near the end would be cut by the edge.
    let widest = local_time::tick(to, step);
    let widest = ui
        .painter()
        .layout_no_wrap(widest, theme::tiny(), colors.dim);
    let last_label = axes::before_the_end(from, to, width, widest.size().x / 2.0);
    let bounds = PlotBounds::from_min_max([from.unix_secs_f64(), low], [to.unix_secs_f64(), high]);
    // Every label at full strength: egui_plot fades those that stand close
    let hints = |hints: AxisHints<'static>| {
        hints
            .tick_label_color(colors.dim)
            .tick_label_font(theme::tiny())
            .label_spacing(1.0..=2.0)
    };
    let x_axis = hints(AxisHints::new_x()).formatter(move |mark, _| match moment_at(mark.value) {
        at if at > last_label => String::new(),
        at => local_time::tick(at, step),
    });
    let y_axis = hints(AxisHints::new_y())
        .min_thickness(place.margin)
        .formatter(move |mark, _| words.span(Span::from_secs_f64(axes::secs_at(mark.value))));
    Plot::new("lag over time")
        .height(place.height)
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        .x_grid_spacer(move |_| axes::time_marks(from, to, step))
        .y_grid_spacer(move |_| axes::height_marks(low, high))
        .grid_color(colors.grid)
        .grid_spacing(1.0..=2.0)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .sense(Sense::click_and_drag())
        .show(ui, |plot| {
            plot.set_plot_bounds(bounds);
            for line in &data.lines {
                for (n, run) in line.runs.iter().enumerate() {
                    plot.line(
                        Line::new(line.name.as_str(), PlotPoints::Borrowed(run))
                            .id((&line.key, n))
                            .color(colors.series(line.color))
                            .width(1.5)
                            .allow_hover(false),
                    );
                }
            }
        })
}

fn highest_secs(data: &PlotData) -> f64 {
    let highest = data
        .lines
        .iter()
        .flat_map(|line| line.runs.iter().flatten())
        .map(|point| point.y)
        .fold(f64::NEG_INFINITY, f64::max);
    let threshold = data
        .thresholds
        .iter()
        .map(|t| t.lag.secs_f64())
        .fold(0.0, f64::max);
    if highest.is_finite() {
        axes::secs_at(highest).max(threshold)
    } else {
        threshold
    }
}

/// Wide enough for the longest lane name, within reason.
fn margin(ui: &Ui, data: &PlotData) -> f32 {
    let width = |lane: &PlotLane| {
        let galley = ui
            .painter()
            .layout_no_wrap(lane.name.clone(), theme::tiny(), Color32::WHITE);
        galley.size().x + 3.0 * UNIT
    };
    let widest = data.lanes.iter().map(width).fold(MARGIN.0, f32::max);
    widest.min(MARGIN.1.min(ui.available_width() * 0.3))
}

fn describe(response: &Response, data: &PlotData) {
    response.widget_info(|| WidgetInfo::labeled(Role::Figure, true, &data.summary));
}

fn focus_ring(ui: &Ui, response: &Response, area: Rect) {
    if response.has_focus() {
        let ring = Stroke::new(1.5, palette(ui).accent);
        ui.painter()
            .rect_stroke(area, 2.0, ring, eframe::egui::StrokeKind::Outside);
    }
}

/// Under the plot, on the same time axis; the names are the legend.
fn lanes_ui(
    ui: &mut Ui,
    data: &PlotData,
    frame: &Frame<'_>,
    area: Rect,
    margin: f32,
    transform: &PlotTransform,
) -> Rect {
    let colors = palette(ui);
    let size = vec2(ui.available_width(), data.lanes.len() as f32 * LANE);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    for (n, lane) in data.lanes.iter().enumerate() {
        let top = rect.min.y + n as f32 * LANE;
        let bar = Rect::from_x_y_ranges(area.x_range(), top + 3.0..=top + LANE - 3.0);
        lane_name_ui(
            ui,
            lane,
            Rect::from_x_y_ranges(area.min.x - margin..=area.min.x - UNIT, top..=top + LANE),
        );
        ui.painter().rect_filled(bar, 2.0, colors.grid);
        for stretch in &lane.stretches {
            stretch_ui(ui, frame, lane, stretch, bar, transform);
        }
        let edge = Rect::from_x_y_ranges(area.x_range(), top + LANE - 2.0..=top + LANE);
        for stretch in &lane.guard {
            guard_ui(ui, lane, stretch, edge, transform);
        }
    }
    Rect::from_x_y_ranges(area.x_range(), rect.y_range())
}

fn lane_name_ui(ui: &Ui, lane: &PlotLane, place: Rect) {
    let color = palette(ui).series(lane.color);
    let mut job =
        eframe::egui::text::LayoutJob::simple_singleline(lane.name.clone(), theme::tiny(), color);
    job.wrap = eframe::egui::text::TextWrapping::truncate_at_width(place.width());
    let galley = ui.painter().layout_job(job);
    let at = pos2(
        place.max.x - galley.size().x,
        place.center().y - galley.size().y / 2.0,
    );
    let cut = galley.elided;
    ui.painter().galley(at, galley, color);
    let response = ui.interact(
        place,
        ui.scope_id().with(("lane", &lane.key)),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &lane.name));
    if cut {
        response.on_hover_text(&lane.name);
    }
}

fn stretch_ui(
    ui: &Ui,
    frame: &Frame<'_>,
    lane: &PlotLane,
    stretch: &LaneStretch,
    bar: Rect,
    transform: &PlotTransform,
) {
    let colors = palette(ui);
    let sign = Sign::from(stretch.health);
    let x = |at: Moment| {
        transform
            .position_from_point_x(at.unix_secs_f64())
            .clamp(bar.min.x, bar.max.x)
    };
    let (left, right) = (x(stretch.from), x(stretch.to).max(x(stretch.from) + 1.0));
    let part = Rect::from_x_y_ranges(left..=right, bar.y_range());
    let well = sign == Sign::Ok;
    let color = sign.color(colors);
    match sign {
        Sign::Unknown => {
            // hatched: cannot be taken for a state
            ui.painter().rect_filled(part, 2.0, colors.area(color));
            hatch(ui, part, color);
        }
        _ if well => drop(ui.painter().rect_filled(part, 2.0, colors.area(color))),
        _ => drop(ui.painter().rect_filled(part, 2.0, color)),
    }
    let word = frame.words.health(stretch.health);
    if !well && sign != Sign::Unknown {
        word_on(ui, word, part, colors.card);
    }
    let id = ui
        .scope_id()
        .with(("stretch", &lane.key, stretch.from.unix_micros()));
    let response = ui.interact(part, id, Sense::hover());
    response.on_hover_text_at_pointer(format!(
        "{}: {word}, {}–{} ({})",
        lane.name,
        local_time::time_of_day(stretch.from),
        local_time::time_of_day(stretch.to),
        frame.words.span(stretch.to.since(stretch.from)),
    ));
}

/// A strip under the lane, so that the state above it stays readable.
fn guard_ui(
    ui: &Ui,
    lane: &PlotLane,
    stretch: &GuardStretch,
    edge: Rect,
    transform: &PlotTransform,
) {
    let x = |at: Moment| {
        transform
            .position_from_point_x(at.unix_secs_f64())
            .clamp(edge.min.x, edge.max.x)
    };
    let (left, right) = (x(stretch.from), x(stretch.to).max(x(stretch.from) + 2.0));
    let part = Rect::from_x_y_ranges(left..=right, edge.y_range());
    // in no state's colour: it is what we would have done, not what is
    ui.painter().rect_filled(part, 1.0, palette(ui).text);
    let id = ui
        .scope_id()
        .with(("guard", &lane.key, stretch.from.unix_micros()));
    let response = ui.interact(part, id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &stretch.text));
    response.on_hover_text_at_pointer(&stretch.text);
}

/// What the strips under the lanes are, where there are any.
fn guard_legend_height(data: &PlotData) -> f32 {
    let is_needed = data.lanes.iter().any(|lane| !lane.guard.is_empty());
    if is_needed { LANE } else { 0.0 }
}

fn guard_legend_ui(ui: &mut Ui, data: &PlotData, frame: &Frame<'_>, area: Rect) {
    let height = guard_legend_height(data);
    if height == 0.0 {
        return;
    }
    let colors = palette(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let left = pos2(area.min.x, rect.center().y);
    let strip = Rect::from_min_max(left - vec2(0.0, 1.0), left + vec2(4.0 * UNIT, 1.0));
    ui.painter().rect_filled(strip, 1.0, colors.text);
    let text = frame.words.text("rules.guard.legend");
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), theme::tiny(), colors.dim);
    let at = pos2(strip.max.x + UNIT, left.y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, colors.dim);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}

fn word_on(ui: &Ui, word: &str, part: Rect, color: Color32) {
    let font = FontId::proportional(size::TINY - 2.0);
    let galley = ui.painter().layout_no_wrap(word.to_owned(), font, color);
    if galley.size().x + 2.0 * UNIT <= part.width() {
        let at = pos2(part.min.x + UNIT, part.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, color);
    }
}

fn hatch(ui: &Ui, part: Rect, color: Color32) {
    let painter = ui.painter().with_clip_rect(part.intersect(ui.clip_rect()));
    let stroke = Stroke::new(1.0, color);
    let mut x = part.min.x - part.height();
    while x < part.max.x {
        painter.line_segment(
            [pos2(x, part.max.y), pos2(x + part.height(), part.min.y)],
            stroke,
        );
        x += 1.5 * UNIT;
    }
}

fn thresholds_ui(ui: &Ui, data: &PlotData, area: Rect, transform: &PlotTransform) {
    let colors = palette(ui);
    let painter = ui.painter().with_clip_rect(area);
    for threshold in &data.thresholds {
        let y = transform.position_from_point_y(axes::height(threshold.lag.secs_f64()));
        let color = threshold.sign.color(colors);
        let ends = [pos2(area.min.x, y), pos2(area.max.x, y)];
        painter.extend(Shape::dashed_line(&ends, Stroke::new(1.0, color), 5.0, 4.0));
        // the lower one under its line, or the two words meet in a low plot
        let (align, y) = match threshold.sign {
            Sign::Warning => (Align2::LEFT_TOP, y + 1.0),
            _ => (Align2::LEFT_BOTTOM, y - 1.0),
        };
        let at = pos2(area.min.x + 1.5 * UNIT, y);
        painter.text(at, align, &threshold.label, theme::tiny(), color);
    }
}

/// A small triangle on top of a dotted line, down to the lanes.
fn marks_ui(ui: &Ui, data: &PlotData, area: Rect, bottom: f32, transform: &PlotTransform) {
    let colors = palette(ui);
    for (n, mark) in data.events.iter().enumerate() {
        let x = transform.position_from_point_x(mark.at.unix_secs_f64());
        if !area.x_range().contains(x) {
            continue;
        }
        let color = mark_color(mark, colors);
        let line = [pos2(x, area.min.y + 6.0), pos2(x, bottom)];
        let dots = Shape::dashed_line(&line, Stroke::new(1.0, color.gamma_multiply(0.6)), 2.0, 3.0);
        ui.painter().extend(dots);
        let top = pos2(x, area.min.y);
        let corners = vec![
            top + vec2(-4.0, 0.0),
            top + vec2(4.0, 0.0),
            top + vec2(0.0, 7.0),
        ];
        ui.painter()
            .add(Shape::convex_polygon(corners, color, Stroke::NONE));
        let place = Rect::from_center_size(top + vec2(0.0, 4.0), vec2(12.0, 14.0));
        let response = ui.interact(place, ui.scope_id().with(("event", n)), Sense::hover());
        response.on_hover_text(format!(
            "{}  {}",
            local_time::time_of_day(mark.at),
            mark.text
        ));
    }
}

fn mark_color(mark: &EventMark, colors: &Palette) -> Color32 {
    mark.sign.color(colors)
}

/// A vertical line at the pointer, and what every line says there.
fn cross_hair_ui(
    ui: &Ui,
    data: &PlotData,
    frame: &Frame<'_>,
    over: Rect,
    transform: &PlotTransform,
) {
    let Some(pointer) = ui.ctx().pointer_latest_pos() else {
        return;
    };
    if !over.contains(pointer) || !ui.rect_contains_pointer(over) {
        return;
    }
    let colors = palette(ui);
    let stroke = Stroke::new(1.0, colors.dim);
    ui.painter().vline(pointer.x, over.y_range(), stroke);
    let secs = transform.value_from_position(pointer).x;
    dots(ui, data, transform, secs, pointer);
    let on_a_mark = pointer.y < transform.frame().min.y + 12.0;
    if on_a_mark || pointer.y > transform.frame().max.y {
        return; // marks and lanes have hover texts of their own
    }
    let id = ui.scope_id().with("cross-hair");
    Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), id, PopupAnchor::Pointer)
        .gap(4.0 * UNIT)
        .show(|ui| readings_ui(ui, data, frame, secs, tolerance(transform)));
}

/// Half of the gap that a line bridges, at least two pixels.
fn tolerance(transform: &PlotTransform) -> f64 {
    (transform.dvalue_dpos()[0].abs() * 2.0).max(1.0)
}

fn dots(ui: &Ui, data: &PlotData, transform: &PlotTransform, secs: f64, pointer: Pos2) {
    let colors = palette(ui);
    for line in &data.lines {
        if let Some(height) = value_at(&line.runs, secs, tolerance(transform)) {
            let at = pos2(pointer.x, transform.position_from_point_y(height));
            ui.painter().circle(
                at,
                3.0,
                colors.series(line.color),
                Stroke::new(1.0, colors.card),
            );
        }
    }
}

fn readings_ui(ui: &mut Ui, data: &PlotData, frame: &Frame<'_>, secs: f64, tolerance: f64) {
    let colors = palette(ui);
    ui.label(theme::strong(local_time::day_and_time(moment_at(secs))));
    Grid::new("readings")
        .num_columns(2)
        .min_row_height(0.0)
        .spacing([4.0 * UNIT, 0.5 * UNIT])
        .show(ui, |ui| {
            for line in &data.lines {
                let color = colors.series(line.color);
                ui.label(theme::colored(line.name.as_str(), color));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    match value_at(&line.runs, secs, tolerance) {
                        Some(height) => drop(ui.label(value_text(frame, line, height))),
                        None => state_ui(ui, data, frame, line, secs),
                    }
                });
                ui.end_row();
            }
        });
}

fn value_text(frame: &Frame<'_>, line: &super::PlotLine, height: f64) -> String {
    let value = axes::secs_at(height);
    if line.whole_seconds {
        return frame.words.span(Span::from_secs(value.round() as i64));
    }
    // the floor stands for everything below it
    if value <= axes::FLOOR_SECS * 1.000_001 {
        format!("≤ {}", frame.words.span(Span::from_millis(1)))
    } else {
        frame.words.span(Span::from_secs_f64(value))
    }
}

/// Where a line has no value, its lane tells why.
fn state_ui(ui: &mut Ui, data: &PlotData, frame: &Frame<'_>, line: &super::PlotLine, secs: f64) {
    let at = moment_at(secs);
    let stretch = data
        .lanes
        .iter()
        .find(|lane| lane.key == line.key)
        .and_then(|lane| lane.stretches.iter().find(|s| s.from <= at && at <= s.to));
    match stretch {
        Some(stretch) => drop(sign_word_ui(
            ui,
            Sign::from(stretch.health),
            frame.words.health(stretch.health),
        )),
        None => drop(ui.label(theme::dim(ui, line.no_value.as_str()))),
    }
}
