//! The options of maps and pictures.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Where vertices lie, and the picture to draw.
#[derive(Debug, Args)]
pub struct MapArguments {
    /// Draw the result over the network into this .svg, .png or .html, a page to move, enlarge and point at. An .svg of
    /// more than 50,000 edges holds an image of the network, as does an .html of more than 1,000,000, which then tells
    /// no distances
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// Where the vertices lie, for a picture or an output in .geojson: a DIMACS .co (numbers in millionths), or a .csv of
    /// vertex, x, y [default: what the generators grid, rgg and roads know]. A .geojson gets them as they are; programs
    /// that read it expect longitude and latitude in degrees. Pictures and isochrones take the coordinates of a file for
    /// these if no x lies beyond 180 and no y beyond 90
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub coordinates: Option<PathBuf>,
}

/// The areas that are reached within limits.
#[derive(Debug, Args)]
pub struct IsochroneArguments {
    /// Find the areas that are reached within these distances, which have the unit of the weights: polygons for an output
    /// in .geojson, the greatest first, or outlines for `--plot`. A point on an edge is reached when the way from the
    /// edge's start is long enough; an area has all that is nearer to such a point than the resolution
    #[arg(long, value_name = "LIMITS", value_delimiter = ',', allow_negative_numbers = true, value_parser = limit)]
    pub isochrones: Vec<f64>,
    /// How finely isochrones are drawn, in the unit of the coordinates (of latitude, if they are degrees) [default: 9 of
    /// 10 edges are no longer; at least a 500th and at most a 10th of the extent of what is reached]
    #[arg(long, value_name = "LENGTH", requires = "isochrones", allow_negative_numbers = true,
          value_parser = resolution)]
    pub isochrone_resolution: Option<f64>,
}

/// The limit of an area.
fn limit(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("a limit is a number, such as 300 or 7.5, and `{text}` is none"))
}

/// How finely areas are drawn.
fn resolution(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("a resolution is a number, such as 0.001, and `{text}` is none"))
}
