//! Areas held against distances along edges, and against the rules of polygons.

use super::*;
use crate::generate::Recipe;
use crate::graph::GraphBuilder;
use crate::{Bfs, Solver, Sssp};

fn is_in_ring([x, y]: [f64; 2], ring: &[[f64; 2]]) -> bool {
    let crosses = |side: &[[f64; 2]]| {
        let ([ax, ay], [bx, by]) = (side[0], side[1]);
        (ay > y) != (by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax)
    };
    ring.windows(2).filter(|side| crosses(side)).count() % 2 == 1
}

fn is_in(point: [f64; 2], area: &Isochrone) -> bool {
    let is_in_polygon = |polygon: &&Polygon| {
        is_in_ring(point, &polygon.outer) && !polygon.holes.iter().any(|hole| is_in_ring(point, hole))
    };
    area.polygons.iter().filter(is_in_polygon).count() == 1
}

/// Twice the area of a ring; negative if it runs clockwise.
fn doubled_area(ring: &[[f64; 2]]) -> f64 {
    ring.windows(2)
        .map(|side| {
            (side[0][0] - ring[0][0]) * (side[1][1] - ring[0][1])
                - (side[1][0] - ring[0][0]) * (side[0][1] - ring[0][1])
        })
        .sum()
}

fn side_of([p, q]: [[f64; 2]; 2], [x, y]: [f64; 2]) -> f64 {
    (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
}

/// Whether two segments have a point in common.
fn meet(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> bool {
    let apart = |s: [[f64; 2]; 2], t: [[f64; 2]; 2]| side_of(s, t[0]) * side_of(s, t[1]) > 0.0;
    let boxes = (0..2).all(|axis| {
        let ends = |s: [[f64; 2]; 2]| (s[0][axis].min(s[1][axis]), s[0][axis].max(s[1][axis]));
        ends(a).0 <= ends(b).1 && ends(b).0 <= ends(a).1
    });
    boxes && !apart(a, b) && !apart(b, a)
}

/// Every ring is closed and simple, meets no other, runs the right way, and lies where it belongs.
fn assert_valid(area: &Isochrone) {
    let mut sides: Vec<[[f64; 2]; 2]> = Vec::new();
    let mut neighbors = Vec::new();
    for polygon in &area.polygons {
        assert!(doubled_area(&polygon.outer) > 0.0);
        for hole in &polygon.holes {
            assert!(doubled_area(hole) < 0.0);
            assert!(hole.iter().all(|&point| is_in_ring(point, &polygon.outer)));
        }
        for ring in std::iter::once(&polygon.outer).chain(&polygon.holes) {
            assert!(ring.len() >= 4 && ring.first() == ring.last());
            let (first, count) = (sides.len(), ring.len() - 1);
            sides.extend(ring.windows(2).map(|side| [side[0], side[1]]));
            neighbors.extend((0..count).map(|side| [first + (side + 1) % count, first + (side + count - 1) % count]));
        }
    }
    let mut sorted: Vec<usize> = (0..sides.len()).collect();
    let low = |side: usize| sides[side][0][0].min(sides[side][1][0]);
    let high = |side: usize| sides[side][0][0].max(sides[side][1][0]);
    sorted.sort_by(|&a, &b| low(a).total_cmp(&low(b)));
    for (index, &a) in sorted.iter().enumerate() {
        for &b in sorted[index + 1..].iter().take_while(|&&b| low(b) <= high(a)) {
            assert!(neighbors[a].contains(&b) || !meet(sides[a], sides[b]), "{:?} {:?}", sides[a], sides[b]);
        }
    }
}

fn solved(recipe: &str, sources: &[VertexId]) -> (Solver, Coordinates, ShortestPathTree) {
    let recipe: Recipe = recipe.parse().unwrap();
    let places = recipe.coordinates().unwrap().unwrap();
    let solver = Solver::new(recipe.generate(&Control::new()).unwrap()).unwrap();
    let tree = solver.solve(Sssp::from(sources.to_vec())).unwrap();
    (solver, places, tree)
}

#[test]
fn reached_vertices_lie_within_and_areas_are_nested() {
    for (recipe, sources, shares) in [
        ("roads:3000", vec![0], [0.1, 0.3, 0.9]),
        ("roads:3000,seed=2", vec![5, 2000, 17], [0.05, 0.5, 1.0]),
        ("rgg:9,seed=3", vec![0, 100], [0.0, 0.2, 1.5]),
        ("grid:30x20", vec![0], [0.1, 0.4, 0.8]),
    ] {
        let (solver, places, tree) = solved(recipe, &sources);
        let farthest = tree.max_distance().unwrap().to_f64();
        let limits = shares.map(|share| share * farthest);
        let made = Isochrones::within(limits);
        for made in [made.clone(), made.clone().resolution(0.7), made.x_scale(0.5)] {
            let areas = made.of(solver.graph(), &places, &tree).unwrap();
            for area in &areas {
                assert_valid(area);
                let vertices = 0..solver.graph().vertices() as VertexId;
                let within: Vec<_> =
                    vertices.filter(|&v| tree.distance(v).is_some_and(|d| d.to_f64() <= area.limit)).collect();
                assert_eq!(within.len() as u64, area.vertices);
                for v in within {
                    assert!(is_in(places.of(v).unwrap(), area), "{recipe}: {v} within {}", area.limit);
                }
            }
            for pair in areas.windows(2) {
                let points = pair[0].polygons.iter().flat_map(|polygon| &polygon.outer);
                // A corner of both areas at once lies on the border of the greater one.
                let outside = points.filter(|&&point| !is_in(point, &pair[1])).all(|point| {
                    let rings = pair[1].polygons.iter().flat_map(|p| std::iter::once(&p.outer).chain(&p.holes));
                    rings.flatten().any(|other| other == point)
                });
                assert!(outside, "{recipe}: {} is not within {}", pair[0].limit, pair[1].limit);
            }
        }
    }
}

#[test]
fn a_grid_has_diamonds() {
    let (solver, places, tree) = solved("grid:61x61", &[30 * 61 + 30]);
    let resolution = 1.0;
    let limits = [4.5, 10.0, 20.25];
    let made = Isochrones::within(limits).resolution(resolution);
    let areas = made.of(solver.graph(), &places, &tree).unwrap();
    for (area, limit) in areas.iter().zip(limits) {
        assert_eq!(area.polygons.len(), 1);
        assert!(area.polygons[0].holes.is_empty());
        for &[x, y] in &area.polygons[0].outer {
            let away = (x - 30.0).abs() + (y - 30.0).abs();
            // As far as the resolution beyond the diamond, measured across its sides, and half a step of the grid.
            let widest = limit + (resolution * 1.5) * 2.0_f64.sqrt();
            assert!(away >= limit - 1.0 && away <= widest, "({x}, {y}) for {limit}");
        }
    }
}

#[test]
fn edges_are_entered_as_far_as_the_limit() {
    // One arc of length 10 along the x axis, one back that is heavier, and a vertex that nothing leads to.
    let graph = GraphBuilder::new().build_from([(0, 1, 10_u32), (1, 0, 40), (2, 1, 1)]).unwrap();
    let places = Coordinates::new(vec![Some([0.0, 0.0]), Some([10.0, 0.0]), None]);
    let solver = Solver::new(graph).unwrap();
    let reach = |tree: &ShortestPathTree, limit: f64| {
        let made = Isochrones::within([limit]).resolution(0.5);
        let areas = made.of(solver.graph(), &places, tree).unwrap();
        assert_valid(&areas[0]);
        let outer = areas[0].polygons.iter().flat_map(|polygon| &polygon.outer);
        outer.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &[x, _]| (low.min(x), high.max(x)))
    };
    let near = |(low, high): (f64, f64), (from, to): (f64, f64)| {
        assert!((low - from + 0.5).abs() <= 0.25 && (high - to - 0.5).abs() <= 0.25, "{low}..{high}");
    };
    let tree = solver.solve(Sssp::from(0)).unwrap();
    near(reach(&tree, 4.0), (0.0, 4.0));
    near(reach(&tree, 0.0), (0.0, 0.0));
    near(reach(&tree, 100.0), (0.0, 10.0));
    let back = solver.solve(Sssp::from(1)).unwrap();
    near(reach(&back, 10.0), (7.5, 10.0));
    let both = solver.solve(Sssp::from([0, 1])).unwrap();
    let made = Isochrones::within([2.0]).resolution(0.5);
    assert_eq!(made.of(solver.graph(), &places, &both).unwrap()[0].polygons.len(), 2);
    let steps = solver.solve(Bfs::from(0)).unwrap();
    near(reach(&steps, 0.5), (0.0, 5.0));
}

#[test]
fn negative_weights_lead_back_within_the_limit() {
    assert_eq!(reached(3.0, -4.0, 1.0), Some([0.5, 1.0]));
    assert_eq!(reached(3.0, -1.0, 1.0), None);
    assert_eq!(reached(3.0, 0.0, 3.0), Some([0.0, 1.0]));
    assert_eq!(reached(3.0, 4.0, 2.0), None);
}

#[test]
fn single_vertices_and_holes_are_polygons() {
    let alone = Solver::new(GraphBuilder::new().vertices(1).build_from::<(u32, u32)>([]).unwrap()).unwrap();
    let tree = alone.solve(Sssp::from(0)).unwrap();
    for place in [[0.0, 0.0], [-1e12, 3.0]] {
        let places = Coordinates::new(vec![Some(place)]);
        let areas = Isochrones::within([5.0]).of(alone.graph(), &places, &tree).unwrap();
        assert_valid(&areas[0]);
        assert!(is_in(place, &areas[0]) && areas[0].polygons.len() == 1);
        assert!(Isochrones::within([-1.0]).of(alone.graph(), &places, &tree).unwrap()[0].polygons.is_empty());
        assert!(Isochrones::within([]).of(alone.graph(), &places, &tree).unwrap().is_empty());
    }
    // A square has a hole, and a vertex far away in the hole of nothing.
    let edges = [(0, 1, 4_u32), (1, 2, 4), (2, 3, 4), (3, 0, 4)];
    let square = Solver::new(crate::Graph::from_edges(edges).unwrap()).unwrap();
    let places = Coordinates::new([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]].map(Some).to_vec());
    let tree = square.solve(Sssp::from(0)).unwrap();
    let areas = Isochrones::within([16.0, 3.0]).resolution(0.5).of(square.graph(), &places, &tree).unwrap();
    areas.iter().for_each(assert_valid);
    assert_eq!((areas[0].polygons.len(), areas[0].polygons[0].holes.len()), (1, 1));
    assert!(areas[1].polygons[0].holes.is_empty());
}

#[test]
fn what_can_not_be_drawn_is_an_error() {
    let (solver, places, tree) = solved("grid:5x5", &[0]);
    let message = |made: Isochrones, tree: &ShortestPathTree, places: &Coordinates| {
        made.of(solver.graph(), places, tree).unwrap_err().to_string()
    };
    let made = Isochrones::within([3.0]);
    assert!(message(made.clone().resolution(1e-7), &tree, &places).contains("too fine"));
    assert!(message(made.clone().resolution(0.0), &tree, &places).contains("not a positive number"));
    assert!(message(made.clone().x_scale(f64::NAN), &tree, &places).contains("not a positive number"));
    assert!(message(Isochrones::within([f64::NAN]), &tree, &places).contains("not a number"));
    assert!(message(made.clone(), &tree, &Coordinates::new(Vec::new())).contains("no coordinates of vertex"));
    let cut = solver.solve(Sssp::from(0).within(2_u32)).unwrap();
    assert!(message(made.clone(), &cut, &places).contains("beyond 2"));
    let far = Coordinates::new((0..25).map(|v| Some([f64::from(v) * 1e307, -1e308])).collect());
    assert!(message(made.clone(), &tree, &far).contains("too fine"));
    let control = Control::new();
    control.cancel();
    assert!(matches!(made.control(control).of(solver.graph(), &places, &tree), Err(Error::Interrupted)));
}
