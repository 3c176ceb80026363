//! `--plot` and `--isochrones`: pictures of results, and the areas that a search reached.

use crate::common::Folder;
use serde_json::{Value, json};

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    std::fs::read(folder.path().join(name)).unwrap()
}

#[test]
fn searches_are_drawn() {
    let folder = Folder::new();
    folder.run("sssp grid:20x30 --weights random:1..9 --source 0 --plot d.svg --quiet").ok();
    let svg = folder.read("d.svg");
    for text in
        ["<title>Shortest paths from 0 in grid:20x30</title>", "600 of 600 vertices reached", "unit of the weights"]
    {
        assert!(svg.contains(text), "{text}");
    }
    // 20 rows of 29 edges, and 30 columns of 19; each is a line.
    assert_eq!(svg.matches('M').count(), 20 * 29 + 30 * 19);
    assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("<image"));
    assert!(folder.run("bfs grid:20x30 --source 0 5 --plot l.svg").ok().contains("drawn  "));
    let svg = folder.read("l.svg");
    assert!(svg.contains("from the nearest of 0, 5") && svg.contains("distance in edges") && svg.contains("2 sources"));
    folder.run("sssp rgg:8 --source 0 --reverse --cutoff 0.1 --plot d.png --quiet").ok();
    assert!(bytes(&folder, "d.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    folder.run("path roads:500 0 300 --k 3 --plot p.svg --quiet").ok();
    let svg = folder.read("p.svg");
    assert!(svg.contains("3 shortest paths from 0 to 300") && svg.contains("path 3: length"), "{svg}");
    folder.run("path grid:3x3 0 8 --plot p.png --output p.geojson --quiet").ok();
    assert_eq!(folder.names(), ["d.png", "d.svg", "l.svg", "p.geojson", "p.png", "p.svg"]);
    // A single vertex, and vertices in a line.
    for (graph, name) in [("grid:1x1", "a"), ("grid:1x9", "b"), ("grid:9x1", "c")] {
        for form in ["svg", "png", "html"] {
            folder.run(&format!("sssp {graph} --source 0 --plot {name}.{form} --quiet")).ok();
        }
        assert!(!folder.read(&format!("{name}.svg")).contains("NaN"), "{graph}");
    }
}

#[test]
fn a_large_network_is_an_image() {
    let folder = Folder::new();
    folder.run("bfs grid:160x160 --source 0 --plot d.svg --quiet").ok();
    let svg = folder.read("d.svg");
    assert!(svg.contains("<image ") && svg.contains("data:image/png;base64,") && !svg.contains("<path"));
}

#[test]
fn a_page_holds_all_that_it_shows() {
    let folder = Folder::new();
    folder.file("g.csv", "from,to,km\n</script><b>,\"b & c\",2\n\"b & c\",d,3\ne,d,1\n");
    folder.file("p.csv", "vertex,x,y\n</script><b>,1,50\n\"b & c\",2,50\nd,2,51\ne,3,51\n");
    folder.run("sssp g.csv --source d --reverse --coordinates p.csv --plot d.html --quiet").ok();
    let page = folder.read("d.html");
    assert_eq!(page.matches("</script>").count(), 2, "names do not end the script");
    for outside in ["src=\"", "@import", "url(", "http:", "https:"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let (_, data) = page.split_once("type=\"application/json\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["network"]["names"], json!(["</script><b>", "b & c", "d", "e"]));
    assert_eq!(data["network"]["groups"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), 3);
    // A degree of longitude is shorter than one of latitude.
    let extent = data["extent"].as_array().unwrap();
    let ratio = extent[0].as_f64().unwrap() / extent[1].as_f64().unwrap();
    assert!((ratio - 2.0 * 50.5_f64.to_radians().cos()).abs() < 1e-6, "{ratio}");
}

#[test]
fn what_can_not_be_drawn_is_refused_at_once() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 5\n");
    folder.file("p.csv", "1,0,0\n2,1,1\n");
    let no_places = "`--coordinates FILE` names a DIMACS .co";
    folder.run("sssp g.txt --source 1 --plot d.svg").fails(2, no_places);
    folder.run("path kron:5 0 1 --plot d.svg").fails(2, no_places);
    folder.run("sssp g.txt --source 1 --plot d.svg --coordinates p.csv").fails(2, "no coordinates of vertex `3`");
    folder.run("sssp g.txt --source 1 --plot d.jpg --coordinates p.csv").fails(2, ".svg, .png or .html");
    folder.run("sssp g.txt --source 1 --coordinates p.csv").fails(2, "`--plot` or an output in .geojson");
    folder.run("sssp grid:3x3 --source 1 --plot d.svg --output d.svg").fails(2, "d.svg");
    folder.file("l.txt", "1\n2\n");
    folder.run("sssp grid:3x3 --sources l.txt --plot d.svg").fails(2, "`--plot` shows one search");
    folder.run("path grid:3x3 --pairs l.txt --plot d.svg").fails(2, "`--plot` shows the paths between two");
    let isochrones = "sssp grid:9x9 --source 40 --isochrones";
    folder.run(&format!("{isochrones} 3")).fails(2, "`--isochrones` are for");
    folder.run(&format!("{isochrones} 3 --output x.csv")).fails(2, "`--isochrones` are for");
    let three = folder.run(&format!("{isochrones} 3,three --output x.geojson"));
    three.fails(2, "a limit is a number, such as 300 or 7.5, and `three` is none");
    let fine = folder.run(&format!("{isochrones} 3 --isochrone-resolution fine --output x.geojson"));
    fine.fails(2, "a resolution is a number, such as 0.001, and `fine` is none");
    folder.run(&format!("{isochrones} nan --output x.geojson")).fails(2, "not a number");
    folder.run(&format!("{isochrones} 3 --output x.geojson --cutoff 2")).fails(2, "beyond 2");
    folder.run(&format!("{isochrones} 3 --output x.geojson --predecessors")).fails(2, "--predecessors");
    folder.run(&format!("{isochrones} 3 --output x.geojson --isochrone-resolution 0")).fails(2, "not a positive");
    folder.run(&format!("{isochrones} 3 --output x.geojson --isochrone-resolution 1e-6")).fails(2, "too fine");
    assert_eq!(folder.names(), ["g.txt", "l.txt", "p.csv"]);
    // An input is not overwritten.
    folder.file("g.svg", "1 2\n");
    folder.run("bfs g.svg --format edge-list --source 1 --plot g.svg --coordinates p.csv").fails(2, "g.svg");
    assert_eq!(folder.read("g.svg"), "1 2\n");
}

/// The polygons of every feature, and its properties.
fn areas(folder: &Folder, name: &str) -> Vec<(Vec<Value>, Value)> {
    let collection: Value = serde_json::from_str(&folder.read(name)).unwrap();
    assert_eq!(collection["type"], json!("FeatureCollection"));
    let features = collection["features"].as_array().unwrap();
    let areas = features.iter().map(|feature| {
        assert_eq!((&feature["type"], &feature["geometry"]["type"]), (&json!("Feature"), &json!("MultiPolygon")));
        (feature["geometry"]["coordinates"].as_array().unwrap().clone(), feature["properties"].clone())
    });
    areas.collect()
}

/// Twice the area of a ring, which has to be closed.
fn doubled_area(ring: &Value) -> f64 {
    let points: Vec<[f64; 2]> = serde_json::from_value(ring.clone()).unwrap();
    assert!(points.len() >= 4 && points.first() == points.last());
    points.windows(2).map(|side| side[0][0] * side[1][1] - side[1][0] * side[0][1]).sum()
}

#[test]
fn isochrones_are_polygons() {
    let folder = Folder::new();
    let grid = "sssp grid:41x41 --source 840 --isochrones";
    folder.run(&format!("{grid} 4,10.5,8 --output a.geojson --plot a.svg --quiet")).ok();
    let found = areas(&folder, "a.geojson");
    let properties: Vec<&Value> = found.iter().map(|(_, properties)| properties).collect();
    // A diamond of radius r has 2r(r+1) + 1 vertices.
    let expected = [
        json!({"limit": 10.5, "vertices": 221}),
        json!({"limit": 8, "vertices": 145}),
        json!({"limit": 4, "vertices": 41}),
    ];
    assert_eq!(properties, expected.iter().collect::<Vec<_>>());
    for (polygons, _) in &found {
        assert_eq!(polygons.len(), 1);
        assert!(doubled_area(&polygons[0][0]) > 0.0, "counterclockwise, as RFC 7946 has it");
    }
    assert!(folder.read("a.svg").contains("reached within 4, 10.5, 8"));
    // From several sources at once, and from each of a list.
    folder.run("sssp grid:41x41 --source 0 1680 --isochrones 5 --output b.geojson --quiet").ok();
    let found = areas(&folder, "b.geojson");
    assert_eq!((found[0].0.len(), &found[0].1), (2, &json!({"limit": 5, "vertices": 42})));
    folder.file("l.txt", "0\n840\n");
    folder.run("sssp grid:41x41 --sources l.txt --isochrones 2,5 --output c.geojson --quiet").ok();
    let sources: Vec<Value> = areas(&folder, "c.geojson").into_iter().map(|(_, mut p)| p["source"].take()).collect();
    assert_eq!(sources, [json!("0"), json!("0"), json!("840"), json!("840")]);
    // A ring of roads has a hole, which runs clockwise.
    folder.file("g.txt", "1 2 4\n2 3 4\n3 4 4\n4 1 4\n");
    folder.file("p.csv", "1,0,0\n2,4,0\n3,4,4\n4,0,4\n");
    let ring = "sssp g.txt --undirected --source 1 --coordinates p.csv --isochrones 9 --isochrone-resolution 0.5";
    folder.run(&format!("{ring} --output d.geojson --quiet")).ok();
    let found = areas(&folder, "d.geojson");
    let rings = found[0].0[0].as_array().unwrap();
    assert!(rings.len() == 2 && doubled_area(&rings[1]) < 0.0);
}

/// A component of a generated graph has other vertex numbers than the whole, whose coordinates are known.
#[test]
fn components_of_generated_graphs_keep_their_places() {
    let folder = Folder::new();
    let places = |name: &str, options: &str| {
        folder.run(&format!("sssp rgg:7,seed=5,radius=0.12 {options} --source 60 --output {name} --quiet")).ok();
        let collection: Value = serde_json::from_str(&folder.read(name)).unwrap();
        collection["features"].clone()
    };
    let (whole, part) = (places("a.geojson", ""), places("b.geojson", "--largest-component"));
    assert_eq!(part.as_array().unwrap().len(), 105);
    assert_eq!(whole, part);
}
