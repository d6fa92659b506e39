#![allow(dead_code)]
pub mod soft_renderer;
