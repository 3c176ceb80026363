//! The orders in which the searches of a case expanded vertices, and how often each came.
//!
//! Only an algorithm that is asked to records its order. Vertices of one level are expanded at once, so that two searches
//! may differ; the row says what was measured, in its remark.

use std::collections::HashMap;

use warpath::{Graph, VertexId};

/// Vertices of an order that are told.
const VERTICES: usize = 16;
/// Orders that are told.
const ORDERS: usize = 3;

/// The orders, each with the number of searches that had it.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    searches: HashMap<String, usize>,
}

impl Orders {
    /// Counts the order of a search, if it has one. Of a long one, only the beginning counts.
    pub(crate) fn add(&mut self, graph: &Graph, order: &[VertexId]) {
        if order.is_empty() {
            return;
        }
        let mut names: Vec<_> = order.iter().take(VERTICES).map(|&vertex| graph.name(vertex)).collect();
        if order.len() > VERTICES {
            names.push("...".into());
        }
        *self.searches.entry(names.join(" ")).or_default() += 1;
    }

    /// The most frequent ones in words; `None` if no search had an order.
    pub(crate) fn text(&self) -> Option<String> {
        let mut all: Vec<(&str, usize)> = self.searches.iter().map(|(order, &times)| (order.as_str(), times)).collect();
        all.sort_unstable_by_key(|&(order, times)| (usize::MAX - times, order));
        let searches: usize = all.iter().map(|(_, times)| times).sum();
        let (order, times) = all.first()?;
        let mut text = format!("order {order} in {times} of {searches} searches");
        for (order, times) in all.iter().take(ORDERS).skip(1) {
            text += &format!(", {order} in {times}");
        }
        if all.len() > ORDERS {
            text += &format!(", and {} more", all.len() - ORDERS);
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted_the_most_frequent_first() {
        let graph = Graph::from_edges((0..30_u32).map(|v| (v, v + 1))).unwrap();
        let mut orders = Orders::default();
        orders.add(&graph, &[]);
        assert_eq!(orders.text(), None);
        orders.add(&graph, &[0, 2, 1]);
        assert_eq!(orders.text().as_deref(), Some("order 0 2 1 in 1 of 1 searches"));
        orders.add(&graph, &[0, 1, 2]);
        orders.add(&graph, &[0, 1, 2]);
        assert_eq!(orders.text().as_deref(), Some("order 0 1 2 in 2 of 3 searches, 0 2 1 in 1"));
        let long: Vec<VertexId> = (0..20).collect();
        [[7], [8]].iter().for_each(|order| orders.add(&graph, order));
        (0..3).for_each(|_| orders.add(&graph, &long));
        let text = orders.text().unwrap();
        assert!(
            text.starts_with("order 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ... in 3 of 8 searches, 0 1 2 in 2"),
            "{text}"
        );
        assert!(text.ends_with(", and 2 more"), "{text}");
    }
}
