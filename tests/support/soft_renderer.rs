//! Draws what egui paints with the processor alone: no graphics card, no display, and the same picture on every
//! machine, so that pictures can be tested anywhere.
//!
//! It does what egui's own painters do with the triangles they are given: premultiplied colours, blended in gamma
//! space, textures filtered bilinearly, the top-left rule for pixels on an edge. Corners are snapped to 1/256 pixel and
//! edges computed in whole numbers, so that two triangles with a common edge neither overlap nor leave a gap.

use std::collections::HashMap;

use eframe::egui::epaint::{ImageData, Mesh, Primitive, Vertex};
use eframe::egui::{ColorImage, Context, FullOutput, Rect, TextureId, TexturesDelta};
use egui_kittest::TestRenderer;

/// A renderer for `egui_kittest::Harness::builder().renderer(…)`.
#[derive(Default)]
pub struct SoftRenderer {
    textures: HashMap<TextureId, ColorImage>,
}

impl TestRenderer for SoftRenderer {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        for (id, changes) in &delta.set {
            for change in changes {
                let ImageData::Color(image) = &change.image;
                match (change.pos, self.textures.get_mut(id)) {
                    (Some(at), Some(texture)) => put(image, texture, at),
                    _ => {
                        self.textures.insert(*id, ColorImage::clone(image));
                    }
                }
            }
        }
        for id in &delta.free {
            self.textures.remove(id);
        }
        delta.clear();
    }

    fn render(&mut self, ctx: &Context, output: &FullOutput) -> Result<image::RgbaImage, String> {
        let scale = ctx.pixels_per_point();
        let size = ctx.content_rect().size() * scale;
        let mut canvas = Canvas::new(size.x.round() as usize, size.y.round() as usize);
        for clipped in ctx.tessellate(output.shapes.clone(), scale) {
            let Primitive::Mesh(mesh) = &clipped.primitive else {
                return Err("a paint callback needs a graphics card".to_owned());
            };
            let texture = self.textures.get(&mesh.texture_id);
            let texture = texture.ok_or_else(|| format!("no texture {:?}", mesh.texture_id))?;
            canvas.clip(clipped.clip_rect * scale);
            canvas.draw_mesh(mesh, texture, scale);
        }
        canvas.into_image()
    }
}

/// Replaces a part of a texture.
fn put(part: &ColorImage, texture: &mut ColorImage, [left, top]: [usize; 2]) {
    let [width, height] = part.size;
    let texture_width = texture.size[0];
    for row in 0..height {
        let target = (top + row) * texture_width + left;
        texture.pixels[target..][..width].copy_from_slice(&part.pixels[row * width..][..width]);
    }
}

/// Red, green, blue, alpha; each 0 to 255, premultiplied.
type Color = [f32; 4];

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Color>,
    /// Pixels that may be painted.
    columns: std::ops::Range<i64>,
    rows: std::ops::Range<i64>,
}

impl Canvas {
    fn new(width: usize, height: usize) -> Self {
        Canvas {
            width,
            height,
            pixels: vec![[0.0, 0.0, 0.0, 255.0]; width * height],
            columns: 0..width as i64,
            rows: 0..height as i64,
        }
    }

    fn clip(&mut self, clip: Rect) {
        let within = |from: f32, to: f32, size: usize| {
            (from.round() as i64).max(0)..(to.round() as i64).min(size as i64)
        };
        self.columns = within(clip.min.x, clip.max.x, self.width);
        self.rows = within(clip.min.y, clip.max.y, self.height);
    }

    fn draw_mesh(&mut self, mesh: &Mesh, texture: &ColorImage, scale: f32) {
        for corners in mesh.indices.as_chunks::<3>().0 {
            let corners = corners.map(|index| mesh.vertices[index as usize]);
            if let Some(triangle) = Triangle::new(corners, scale) {
                self.draw_triangle(&triangle, texture);
            }
        }
    }

    fn draw_triangle(&mut self, triangle: &Triangle, texture: &ColorImage) {
        let rows = triangle.rows();
        let plain = triangle.plain_color(texture);
        for y in rows.start.max(self.rows.start)..rows.end.min(self.rows.end) {
            let columns = triangle.columns_of_row(y, &self.columns);
            for x in columns {
                let color = plain.unwrap_or_else(|| triangle.color_at(x, y, texture));
                let pixel = &mut self.pixels[y as usize * self.width + x as usize];
                let shines_through = 1.0 - color[3] / 255.0;
                for (under, over) in pixel.iter_mut().zip(color) {
                    *under = over + *under * shines_through;
                }
            }
        }
    }

    fn into_image(self) -> Result<image::RgbaImage, String> {
        let bytes = self.pixels.iter().flatten();
        let bytes = bytes.map(|channel| channel.round().clamp(0.0, 255.0) as u8);
        image::RgbaImage::from_raw(self.width as u32, self.height as u32, bytes.collect())
            .ok_or_else(|| "the canvas has no size".to_owned())
    }
}

/// Parts of a pixel that corners are snapped to.
const SUBPIXELS: i64 = 256;

/// A triangle with its corners in subpixels, turning clockwise on the screen.
struct Triangle {
    corners: [Vertex; 3],
    points: [(i64, i64); 3],
    /// Twice its area, in square subpixels; positive.
    area: i64,
}

impl Triangle {
    /// None when it has no area.
    fn new(mut corners: [Vertex; 3], scale: f32) -> Option<Self> {
        let snap = |coordinate: f32| (coordinate * scale * SUBPIXELS as f32).round() as i64;
        let mut points = corners.map(|corner| (snap(corner.pos.x), snap(corner.pos.y)));
        let mut area = cross(points[0], points[1], points[2]);
        if area < 0 {
            corners.swap(1, 2);
            points.swap(1, 2);
            area = -area;
        }
        (area > 0).then_some(Triangle {
            corners,
            points,
            area,
        })
    }

    fn rows(&self) -> std::ops::Range<i64> {
        let ys = self.points.map(|(_, y)| y);
        let [first, second, third] = ys;
        let top = first.min(second).min(third).div_euclid(SUBPIXELS);
        let bottom = first.max(second).max(third).div_euclid(SUBPIXELS);
        top..bottom + 1
    }

    /// The pixels of a row whose middle lies inside: each edge limits them from one side.
    fn columns_of_row(&self, y: i64, within: &std::ops::Range<i64>) -> std::ops::Range<i64> {
        let (mut from, mut to) = (within.start, within.end);
        for corner in 0..3 {
            let at_zero = self.edge(corner, 0, y);
            let per_pixel = self.edge(corner, 1, y) - at_zero;
            // a pixel exactly on an edge belongs to the triangle only if that is a top or a left edge
            let least = i64::from(!self.is_top_left(corner));
            match per_pixel {
                0 if at_zero < least => return 0..0,
                0 => {}
                1.. => from = from.max(-(at_zero - least).div_euclid(per_pixel)),
                _ => to = to.min((at_zero - least).div_euclid(-per_pixel) + 1),
            }
        }
        from..to
    }

    /// How far the middle of a pixel lies inside the edge opposite a corner; over `area` it is that corner's weight.
    fn edge(&self, opposite: usize, x: i64, y: i64) -> i64 {
        let (from, to) = self.edge_opposite(opposite);
        let middle = |pixel: i64| pixel * SUBPIXELS + SUBPIXELS / 2;
        cross(from, to, (middle(x), middle(y)))
    }

    fn edge_opposite(&self, corner: usize) -> ((i64, i64), (i64, i64)) {
        (self.points[(corner + 1) % 3], self.points[(corner + 2) % 3])
    }

    fn is_top_left(&self, opposite: usize) -> bool {
        let (from, to) = self.edge_opposite(opposite);
        let (right, down) = (to.0 - from.0, to.1 - from.1);
        down < 0 || (down == 0 && right > 0)
    }

    /// The colour of all of it, for the many triangles that have only one: plain fills.
    fn plain_color(&self, texture: &ColorImage) -> Option<Color> {
        let [a, b, c] = &self.corners;
        let one_color = a.color == b.color && a.color == c.color;
        let one_texel = a.uv == b.uv && a.uv == c.uv;
        (one_color && one_texel).then(|| {
            tint(
                sample(texture, a.uv.x, a.uv.y),
                a.color.to_array().map(f32::from),
            )
        })
    }

    fn color_at(&self, x: i64, y: i64, texture: &ColorImage) -> Color {
        let weights = [0, 1, 2].map(|corner| self.edge(corner, x, y) as f32 / self.area as f32);
        let mix = |value: &dyn Fn(&Vertex) -> f32| {
            let parts = weights.iter().zip(&self.corners);
            parts
                .map(|(weight, corner)| weight * value(corner))
                .sum::<f32>()
        };
        let texel = sample(texture, mix(&|v| v.uv.x), mix(&|v| v.uv.y));
        let color = [0, 1, 2, 3].map(|n| mix(&|v| f32::from(v.color.to_array()[n])));
        tint(texel, color)
    }
}

/// Twice the signed area of a triangle; positive when it turns clockwise on the screen, where y grows downwards.
fn cross(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> i64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

fn tint(texel: Color, color: Color) -> Color {
    [0, 1, 2, 3].map(|n| texel[n] * color[n] / 255.0)
}

/// The texture at a place given as 0 to 1, mixed from the four texels around it.
fn sample(texture: &ColorImage, u: f32, v: f32) -> Color {
    let [width, height] = texture.size;
    let (x, y) = (u * width as f32 - 0.5, v * height as f32 - 0.5);
    let (left, top) = (x.floor(), y.floor());
    let (right_part, bottom_part) = (x - left, y - top);
    let texel = |x: f32, y: f32| {
        let column = (x.max(0.0) as usize).min(width - 1);
        let row = (y.max(0.0) as usize).min(height - 1);
        texture.pixels[row * width + column].to_array()
    };
    let (a, b) = (texel(left, top), texel(left + 1.0, top));
    let (c, d) = (texel(left, top + 1.0), texel(left + 1.0, top + 1.0));
    [0, 1, 2, 3].map(|n| {
        let upper = f32::from(a[n]) * (1.0 - right_part) + f32::from(b[n]) * right_part;
        let lower = f32::from(c[n]) * (1.0 - right_part) + f32::from(d[n]) * right_part;
        upper * (1.0 - bottom_part) + lower * bottom_part
    })
}
