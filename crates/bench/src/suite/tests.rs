use std::collections::BTreeSet;

use warpath::Engine;

use super::*;

#[test]
fn every_suite_is_in_order() {
    for name in Suite::names() {
        let suite = Suite::named(name).unwrap_or_else(|error| panic!("{error}"));
        for quick in [false, true] {
            let cases = suite.cases(quick);
            let keys: BTreeSet<String> = cases.iter().map(Case::key).collect();
            assert_eq!(keys.len(), cases.len(), "{name}: two cases have the same name");
            assert!(cases.iter().any(|case| case.entry.engine == "cpu"), "{name}: nothing runs without a GPU");
        }
        for experiment in &suite.experiments {
            let known = |series: &str| {
                let all: Vec<String> =
                    experiment.algorithms.iter().flat_map(|a| a.variations().into_iter().map(|v| v.0)).collect();
                let series = series.split_once('/').map_or(series, |(_, series)| series);
                assert!(all.iter().any(|known| known == series), "{name}, {}: `{series}`", experiment.id);
            };
            experiment.against.iter().for_each(|series| known(series));
            for claim in suite.claims.iter().filter(|claim| claim.experiment == experiment.id) {
                known(&claim.slow);
            }
            let fast = |claim: &&Claim| claim.fast_experiment.as_ref().unwrap_or(&claim.experiment) == &experiment.id;
            for claim in suite.claims.iter().filter(fast) {
                known(&claim.fast);
            }
            for entry in &experiment.algorithms {
                for reported in entry.reported.iter().chain(entry.reported_counters.values().flatten()) {
                    assert!(experiment.graphs.contains(reported.0), "{name}, {}: {}", experiment.id, reported.0);
                    if let Reported::Each(values) = reported.1 {
                        assert_eq!(values.len(), entry.variations().len(), "{name}, {}", entry.series);
                    }
                }
            }
        }
    }
}

#[test]
fn graphs_can_be_made() {
    for graph in Suite::names().flat_map(|name| Suite::named(name).unwrap().graphs) {
        for recipe in graph.recipe.iter().chain(graph.quick.iter().filter(|quick| *quick != "skip")) {
            let recipe = recipe.replace("{scale}", "10");
            // The bench has two generators of its own.
            if !recipe.starts_with("random:") && !recipe.starts_with("layers:") {
                recipe.parse::<warpath::generate::Recipe>().unwrap_or_else(|error| panic!("{error}"));
            }
        }
        let names = graph.dataset.iter().chain(graph.tiles.as_ref().map(|tiles| &tiles.of));
        names.for_each(|name| assert!(crate::datasets::named(name).is_ok(), "{name}"));
        assert!(graph.instead.is_none() || graph.dataset.is_some(), "{}: nothing can be absent", graph.id);
    }
}

/// Stand-ins for Rejaud's directed graphs are directed, and have the sizes of the graphs that they stand in for.
#[test]
fn stand_ins_have_the_sizes_of_their_datasets() {
    for graph in Suite::named("rejaud").unwrap().graphs {
        let dataset = crate::datasets::named(graph.dataset.as_deref().unwrap()).unwrap();
        let recipe: warpath::generate::Recipe = graph.recipe.as_deref().unwrap().parse().unwrap();
        assert_eq!(recipe.vertices(), dataset.vertices, "{}", graph.id);
        assert_eq!(recipe.arcs(), dataset.edges, "{}", graph.id);
        assert_eq!(recipe.is_directed(), graph.id != "road-ca", "{}", graph.id);
    }
}

#[test]
fn every_claim_can_be_judged() {
    for suite in Suite::names().map(|name| Suite::named(name).unwrap()) {
        for claim in &suite.claims {
            assert!(claim.paper.is_some() && claim.kernel.is_some(), "{}: {}", suite.name, claim.text);
            assert!(claim.holds_if.is_some() || claim.is_untested(), "{}: {}", suite.name, claim.text);
        }
    }
}

#[test]
fn algorithms_are_those_that_the_engines_have() {
    // Algorithms of the design that an engine may not have yet: their rows say so.
    let announced = ["repeated-sssp", "batched", "johnson", "condensation"];
    for name in Suite::names() {
        let suite = Suite::named(name).unwrap();
        for case in suite.cases(false) {
            let Some(algorithm) = &case.algorithm else { continue };
            let problem = case.experiment.problem().unwrap();
            let algorithm = algorithm.split(':').next().unwrap();
            let has = |engine: Engine| {
                engine.algorithms().iter().any(|info| info.name == algorithm && info.problem == problem)
            };
            let known = match case.entry.engine.as_str() {
                "cpu" => has(Engine::Cpu),
                "peer" => crate::peers::NAMES.contains(&algorithm),
                _ => has(Engine::Cuda(Vec::new())) || announced.contains(&algorithm) || case.entry.lab,
            };
            assert!(known, "{name}: {} has no {} `{algorithm}`", case.entry.engine, problem.name());
        }
    }
}

/// Work that is cut neither into strips nor into pages runs on one device, however many there are.
#[test]
fn what_is_for_several_gpus_is_cut_for_them() {
    let mut several = 0;
    for suite in Suite::names().map(|name| Suite::named(name).unwrap()) {
        for case in suite.cases(false).iter().filter(|case| case.entry.engine.contains(',')) {
            let algorithm = case.algorithm.as_deref().unwrap();
            let vertices: u64 = case.graph.recipe.as_deref().unwrap().split_once(':').unwrap().1.parse().unwrap();
            several += 1;
            if let Some(parameters) = algorithm.strip_prefix("katz-kider:") {
                // Without `page`, it cuts a matrix of more than a block into pages for all devices.
                let block: u64 = parameters.strip_prefix("block=").unwrap().parse().unwrap();
                assert!(vertices > block, "{}", case.key());
                continue;
            }
            let strip: u64 = algorithm.split_once("strip=").unwrap().1.parse().unwrap();
            assert_eq!(strip % 256, 0, "narrow cells are cut at multiples of 256 only");
            // All devices have the same number of strips, or there is a single strip, which the note mentions.
            assert!(vertices <= 256 || vertices.div_ceil(strip).is_multiple_of(2), "{}", case.key());
        }
    }
    assert!(several >= 20);
}

#[test]
fn parameters_vary_every_one_with_every_other() {
    let entry: AlgorithmEntry = toml::from_str(
        "series = 'x'\nengine = 'cuda'\nalgorithm = 'bellman-ford:sync=incore'\n\
         vary = [['launch', ['256x8', '384x5']], ['edge-order', ['destination', 'source']]]",
    )
    .unwrap();
    let all = entry.variations();
    assert_eq!(all.len(), 4);
    assert_eq!(all[1].0, "x, 256x8 source");
    assert_eq!(all[1].1.as_deref(), Some("bellman-ford:sync=incore,launch=256x8,edge-order=source"));
}

#[test]
fn mistakes_in_a_suite_are_told() {
    assert!(Suite::named("nobody").unwrap_err().to_string().contains("singh"));
    assert!(Suite::parse("x", "title = 3").is_err());
    assert!(Suite::parse("x", "surprise = 3").unwrap_err().to_string().contains("surprise"));
    let rejaud = FILES.iter().find(|(name, _)| *name == "rejaud").unwrap().1;
    let counted = rejaud.replace("fast-counter = \"compute_nanoseconds\"", "fast-counter = \"rounds\"");
    assert!(Suite::parse("x", &counted).unwrap_err().to_string().contains("`rounds` is none"));
    let hierarchies = FILES.iter().find(|(name, _)| *name == "hierarchies").unwrap().1;
    let without = hierarchies.replacen("targets = 100\n", "", 1);
    assert!(Suite::parse("x", &without).unwrap_err().to_string().contains("table-100: a table, and nothing else"));
    let centralities = FILES.iter().find(|(name, _)| *name == "centralities").unwrap().1;
    let without = centralities.replacen("steps = 2\n", "", 1);
    assert!(Suite::parse("x", &without).unwrap_err().to_string().contains("within-2: neighborhoods, and nothing else"));
    let claim = "\n[[claim]]\ntext = 't'\nsays = 's'\nexperiment = 'table'\nslow = 'a'\nfast = 'b'\n";
    for (more, told) in [
        ("holds-if = { least = 3, most = 2 }", "has no ratio"),
        ("holds-if = {}", "has no ratio"),
        ("holds-if = { least = -1 }", "has no ratio"),
        ("verdict = 'holds'", "is counted"),
        ("graphs = ['nowhere']", "`nowhere`, which is no graph"),
        ("kernel = 'fast'", "as printed"),
    ] {
        let error = Suite::parse("x", &format!("{rejaud}{claim}{more}")).unwrap_err().to_string();
        assert!(error.contains(told), "{more}: {error}");
    }
}
