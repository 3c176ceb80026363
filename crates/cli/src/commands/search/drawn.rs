//! What a search draws: a picture, and areas.

use std::sync::Arc;

use warpath::graph::Coordinates;
use warpath::problems::{Isochrone, Isochrones};
use warpath::{Error, Graph, ShortestPathTree};

use super::SearchCommand;
use super::writer::DistanceWriter;
use crate::failure::Failure;
use crate::geojson::{self, Places};
use crate::plot::{Plot, SearchShown};
use crate::setup::{Setup, inputs};

/// What a search draws, and where the vertices lie.
pub(super) struct Drawn {
    plot: Option<Plot>,
    isochrones: Option<Isochrones>,
    /// Known once the graph is, if anything needs it.
    places: Option<Arc<Places>>,
}

impl Drawn {
    /// Checks, before the work, that what is asked for can be drawn.
    pub(super) fn create(command: &SearchCommand<'_>, setup: &Setup<'_>) -> Result<Self, Failure> {
        let search = command.search;
        let plot = search.map.plot.as_deref();
        let is_map = search.output.as_deref().is_some_and(geojson::is_wanted);
        if plot.is_some() && search.sources.is_some() {
            return Err(Failure::usage("`--plot` shows one search; `--sources` asks for several"));
        }
        if plot.is_none() && !is_map {
            if search.map.coordinates.is_some() {
                return Err(Failure::usage("`--coordinates` are for `--plot` or an output in .geojson"));
            }
            if command.isochrones.is_some() {
                return Err(Failure::usage("`--isochrones` are for an output in .geojson or for `--plot`"));
            }
        }
        let isochrones = command.isochrones.map(|arguments| {
            let made = Isochrones::within(arguments.isochrones.clone()).control(setup.control.clone());
            arguments.isochrone_resolution.into_iter().fold(made, Isochrones::resolution)
        });
        let lists = [&search.sources, &search.map.coordinates];
        let inputs = inputs(command.graph, &lists);
        let create =
            |path| Plot::create(path, &inputs, search.output.as_deref(), &command.solving.common, &setup.control);
        Ok(Drawn { plot: plot.map(create).transpose()?, isochrones, places: None })
    }

    /// Finds out where the vertices lie, if a picture or a map needs it.
    pub(super) fn locate(
        &mut self,
        command: &SearchCommand<'_>,
        setup: &Setup<'_>,
        graph: &Graph,
        output: Option<&mut DistanceWriter>,
    ) -> Result<(), Failure> {
        let output = output.filter(|output| output.is_map());
        if self.plot.is_none() && output.is_none() {
            return Ok(());
        }
        let file = command.search.map.coordinates.as_deref();
        let places = Arc::new(Places::find(setup, command.graph, file, graph)?);
        output.into_iter().for_each(|output| output.locate(&places));
        self.places = Some(places);
        Ok(())
    }

    /// Where the vertices lie, if a picture or a map needs it.
    pub(super) fn coordinates(&self) -> Option<&Coordinates> {
        self.places.as_deref().map(|places| &places.coordinates)
    }

    /// The areas that were reached, if they are asked for.
    pub(super) fn areas(&self, graph: &Graph, tree: &ShortestPathTree) -> Result<Option<Vec<Isochrone>>, Error> {
        let (Some(isochrones), Some(places)) = (&self.isochrones, &self.places) else { return Ok(None) };
        let made = isochrones.clone().x_scale(places.x_scale);
        made.of(graph, &places.coordinates, tree).map(Some)
    }

    /// Draws the picture, if one is asked for.
    pub(super) fn draw(
        &mut self,
        command: &SearchCommand<'_>,
        graph: &Graph,
        tree: &ShortestPathTree,
        isochrones: &[Isochrone],
    ) -> Result<(), Error> {
        let (Some(plot), Some(places)) = (self.plot.take(), &self.places) else { return Ok(()) };
        let search = command.search;
        let targets = search.target.iter().map(|name| graph.vertex(name)).collect::<Result<Vec<_>, _>>()?;
        let shown = SearchShown {
            graph_name: command.graph.name(),
            targets: &targets,
            isochrones,
            reverse: search.reverse,
            is_limited: search.cutoff.is_some() || !targets.is_empty(),
        };
        plot.write_search(graph, places, tree, &shown)
    }
}
