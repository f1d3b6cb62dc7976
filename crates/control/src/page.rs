//! A page of metrics: families of values, of one card or several.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;
use std::fmt;

/// A metric's name, unit and help.
pub(crate) type Described<'a> = (&'a str, Option<Unit>, &'a str);
pub(crate) type Labels = Vec<(&'static str, String)>;

/// A value of the page.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Counter(u64),
    Gauge(Number),
    Histogram { sum: f64, counts: Vec<(f64, u64)> },
    Info,
}

/// A whole number, or another.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Whole(u64),
    Real(f64),
}

impl From<u64> for Number {
    fn from(number: u64) -> Number {
        Number::Whole(number)
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Number {
        Number::Real(number)
    }
}

/// A metric with its values, of all cards.
#[derive(Debug)]
struct Family {
    name: String,
    unit: Option<Unit>,
    help: String,
    values: Vec<(Labels, Value)>,
}

/// All metrics in the order in which they came; each has its values in one place, as the format asks.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Name of the card.
    pub name: String,
    families: Vec<Family>,
}

impl Page {
    pub fn add(&mut self, (name, unit, help): Described, mut labels: Labels, value: Value) {
        labels.insert(0, ("name", self.name.clone()));
        match self.families.iter_mut().find(|family| family.name == name) {
            Some(family) => family.values.push((labels, value)),
            None => {
                let (name, help, values) = (name.into(), help.into(), vec![(labels, value)]);
                self.families.push(Family { name, unit, help, values });
            }
        }
    }

    pub fn gauge(&mut self, described: Described, value: impl Into<Number>) {
        self.add(described, Vec::new(), Value::Gauge(value.into()));
    }

    pub fn counter(&mut self, described: Described, value: u64) {
        self.add(described, Vec::new(), Value::Counter(value));
    }

    pub fn gauges(
        &mut self,
        (name, unit, help): Described,
        label: &'static str,
        values: impl IntoIterator<Item = (impl Into<String>, u64)>,
    ) {
        for (of, value) in values {
            self.add((name, unit.clone(), help), vec![(label, of.into())], Value::Gauge(value.into()));
        }
    }

    pub fn counters(
        &mut self,
        (name, unit, help): Described,
        label: &'static str,
        values: impl IntoIterator<Item = (impl Into<String>, u64)>,
    ) {
        for (of, value) in values {
            self.add((name, unit.clone(), help), vec![(label, of.into())], Value::Counter(value));
        }
    }
}

impl Value {
    fn metric_type(&self) -> MetricType {
        match self {
            Value::Counter(_) => MetricType::Counter,
            Value::Gauge(_) => MetricType::Gauge,
            Value::Histogram { .. } => MetricType::Histogram,
            Value::Info => MetricType::Info,
        }
    }

    fn encode(&self, labels: &Labels, metric: &mut MetricEncoder) -> fmt::Result {
        let labels: Vec<(&str, &str)> = labels.iter().map(|(label, of)| (*label, of.as_str())).collect();
        let labels = &labels[..];
        if let Value::Info = self {
            return metric.encode_info(&labels);
        }
        let mut metric = metric.encode_family(&labels)?;
        match self {
            Value::Counter(value) => metric.encode_counter::<NoLabelSet, _, u64>(value, None),
            Value::Gauge(Number::Whole(value)) => metric.encode_gauge(value),
            Value::Gauge(Number::Real(value)) => metric.encode_gauge(value),
            Value::Histogram { sum, counts } => {
                let all = counts.iter().map(|(_, count)| count).sum();
                metric.encode_histogram::<NoLabelSet>(*sum, all, counts, None)
            }
            Value::Info => Ok(()),
        }
    }
}

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for Family { name, unit, help, values } in &self.families {
            let of = values[0].1.metric_type();
            let mut metric = encoder.encode_descriptor(name, help, unit.as_ref(), of)?;
            values.iter().try_for_each(|(labels, value)| value.encode(labels, &mut metric))?;
        }
        Ok(())
    }
}
