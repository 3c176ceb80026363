use crate::Graph;
use crate::generate;
use crate::graph::{strongly_connected_components, weakly_connected_components};

/// The share of arcs to ids at most so far away.
fn near(graph: &Graph, window: u32) -> f64 {
    graph.edges().filter(|(u, v, _)| u.abs_diff(*v) <= window).count() as f64 / graph.arcs() as f64
}

fn with_reverse(graph: &Graph) -> f64 {
    graph.edges().filter(|(u, v, _)| graph.neighbors(*v).contains(u)).count() as f64 / graph.arcs() as f64
}

fn in_degrees(graph: &Graph) -> Vec<usize> {
    let mut degrees = vec![0; graph.vertices()];
    graph.csr().targets().iter().for_each(|&head| degrees[head as usize] += 1);
    degrees.sort_unstable_by(|a, b| b.cmp(a));
    degrees
}

/// The share of vertices in the largest weak component, and in the largest strong one.
fn components(graph: &Graph) -> (f64, f64) {
    let share = |sizes: Vec<u64>| *sizes.iter().max().unwrap() as f64 / graph.vertices() as f64;
    let weak = weakly_connected_components(graph).unwrap().sizes().unwrap();
    let strong = strongly_connected_components(graph).unwrap().sizes().unwrap();
    (share(weak), share(strong))
}

#[test]
fn pages_have_locality_hubs_and_a_core() {
    let graph = generate("crawl:30000,arcs=250000,site=4000").unwrap();
    assert!(graph.is_directed());
    assert_eq!((graph.vertices(), graph.arcs()), (30_000, 250_000));
    let counts = graph.input_counts();
    assert_eq!((counts.lines, counts.self_loops, counts.parallel), (250_000, 0, 0));
    assert!(near(&graph, 64) > 0.35 && near(&graph, 4000) > 0.6, "{} {}", near(&graph, 64), near(&graph, 4000));
    let degrees = in_degrees(&graph);
    let upper: usize = degrees[..300].iter().sum();
    assert!(degrees[0] > 100 * 8, "the greatest in-degree is {}", degrees[0]);
    assert!((30_000..200_000).contains(&upper), "a hundredth of the pages has {upper} of the arcs");
    let (weak, strong) = components(&graph);
    assert!(weak > 0.95 && (0.4..0.9).contains(&strong), "{weak} {strong}");
}

#[test]
fn searches_from_the_core_reach_nearly_all() {
    let graph = generate("crawl:20000,arcs=160000").unwrap();
    let strong = strongly_connected_components(&graph).unwrap();
    let largest = strong.largest().unwrap().unwrap();
    let member = (0..20_000).find(|&v| strong.of[v as usize] == largest).unwrap();
    let (mut seen, mut queue) = (vec![false; 20_000], vec![member]);
    seen[member as usize] = true;
    while let Some(u) = queue.pop() {
        for &v in graph.neighbors(u) {
            if !std::mem::replace(&mut seen[v as usize], true) {
                queue.push(v);
            }
        }
    }
    let reached = seen.iter().filter(|&&seen| seen).count();
    assert!(reached > 17_000, "{reached}");
}

#[test]
fn a_random_order_has_the_same_degrees_and_no_locality() {
    let ordered = generate("crawl:20000,arcs=100000").unwrap();
    let random = generate("crawl:20000,arcs=100000,order=random").unwrap();
    assert_eq!(in_degrees(&ordered), in_degrees(&random));
    assert_eq!(components(&ordered), components(&random));
    assert!(near(&ordered, 64) > 0.4 && near(&random, 64) < 0.03);
}

#[test]
fn friends_reply() {
    for reciprocity in [0.3, 0.54, 0.75] {
        let recipe = format!("crawl:20000,arcs=300000,local=0.3,site=256,reciprocity={reciprocity}");
        let graph = generate(&recipe).unwrap();
        assert_eq!(graph.arcs(), 300_000);
        let share = with_reverse(&graph);
        assert!((reciprocity - 0.001..reciprocity + 0.12).contains(&share), "{reciprocity}: {share}");
        // Silent ones do not reply.
        assert!((0..20_000).filter(|&v| graph.degree(v) == 0).count() >= 4000);
    }
}

#[test]
fn purchases_have_few_links_and_many_triangles() {
    let graph = generate("crawl:20000,arcs=160000,out-degree=10,site=64,local=0.85,silent=0.03").unwrap();
    assert_eq!(graph.arcs(), 160_000);
    assert!((0..20_000).all(|v| graph.degree(v) <= 10));
    let joined = |v: u32| {
        let row = graph.neighbors(v);
        let pairs = row.iter().flat_map(|&a| row.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b);
        pairs.fold((0, 0), |(joined, all), (a, b)| {
            (joined + usize::from(graph.neighbors(a).binary_search(&b).is_ok()), all + 1)
        })
    };
    let (joined, all) = (0..20_000).map(joined).fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    assert!(joined * 8 > all, "{joined} of {all} pairs are joined");
    let (weak, strong) = components(&graph);
    assert!(weak > 0.99 && strong > 0.8, "{weak} {strong}");
}

#[test]
fn graphs_can_be_small_full_and_empty() {
    for (recipe, vertices, arcs) in [
        ("crawl:1", 1, 0),
        ("crawl:2,silent=0", 2, 2),
        ("crawl:3,silent=1", 3, 0),
        ("crawl:20,arcs=380,silent=0,local=1,copied=1", 20, 380),
        ("crawl:20,arcs=380,silent=0,local=0,exponent=2.01", 20, 380),
        ("crawl:50,arcs=0,reciprocity=1", 50, 0),
        ("crawl:9,arcs=36,silent=0,reciprocity=0.2,site=1", 9, 36),
    ] {
        let graph = generate(recipe).unwrap();
        assert_eq!((graph.vertices(), graph.arcs()), (vertices, arcs), "{recipe}");
    }
    // All links have their reverse already, so nothing is left to reply to.
    assert_eq!(generate("crawl:2,silent=0,arcs=3,reciprocity=0.7").unwrap().arcs(), 2);
}

#[test]
fn what_has_no_room_or_no_sense_is_refused() {
    for (recipe, reason) in [
        ("crawl:10,arcs=91,silent=0", "10 vertices with at most 9 links each have room for 90 links, not for 91"),
        ("crawl:10,arcs=9,silent=1", "0 vertices with at most 9 links each have room for 0 links, not for 9"),
        ("crawl:10,exponent=2", "the exponent `2` is not a number from 2.01 to 100"),
        ("crawl:10,exponent=NaN", "the exponent `NaN` is not a number from 2.01 to 100"),
        ("crawl:10,local=1.1", "`local=1.1` is not a share from 0 to 1"),
        ("crawl:10,reciprocity=NaN", "`reciprocity=NaN` is not a share from 0 to 1"),
        ("crawl:10,order=up", "the order `up` is neither crawl nor random"),
        ("crawl:10,site=0", "`site=0` is not a whole number from 1"),
    ] {
        let error = generate(recipe).unwrap_err().to_string();
        assert_eq!(error, format!("generator `{recipe}`: {reason}"));
    }
}
