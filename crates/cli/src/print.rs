//! What is printed: short tables for people, one JSON object for programs.
//!
//! *Invariants.* The system's call gets a live value of the type that it fills in.

use std::io::Write;
use std::sync::OnceLock;

use serde::Serialize;
use warpath::problems::DistanceSum;
use warpath::{Decision, Distance, Error, Plan};

use crate::failure::Failure;

/// Writes to standard output; a reader that has gone away is no error.
pub(crate) fn to_stdout(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::io("<stdout>", error).into()),
        _ => Ok(()),
    }
}

/// Writes a line to standard error; a failure is ignored, since nothing could report it.
pub(crate) fn to_stderr(line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// The version of the JSON objects. It grows when a field changes its meaning or goes away; docs/json.md describes them.
const SCHEMA: u32 = 1;

/// The command that runs, for its JSON objects.
static COMMAND: OnceLock<&str> = OnceLock::new();

/// Sets the command that every JSON object of this process names.
pub(crate) fn json_names(command: &'static str) {
    COMMAND.get_or_init(|| command);
}

/// A JSON object as it is printed.
#[derive(Debug, Serialize)]
struct Versioned<'a, T> {
    schema: u32,
    /// Absent if the arguments name no command.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(flatten)]
    object: &'a T,
}

/// Prints one JSON object.
pub(crate) fn json(object: &impl Serialize) -> Result<(), Failure> {
    let versioned = Versioned { schema: SCHEMA, command: COMMAND.get().copied(), object };
    let text = serde_json::to_string(&versioned).map_err(|error| Error::io("<stdout>", error.into()))?;
    to_stdout(&(text + "\n"))
}

/// A table of names and values, for people.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<(String, String)>);

impl Table {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn row(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.push((name.into(), value.into()));
    }

    pub(crate) fn print(&self) -> Result<(), Failure> {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let lines: String = self.0.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect();
        to_stdout(&lines)
    }
}

/// 1234567 as `1,234,567`.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 vertex`, `2,000 vertices`.
pub(crate) fn count(number: impl TryInto<u128>, one: &str, many: &str) -> String {
    let number = number.try_into().unwrap_or(u128::MAX);
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// The 64-bit float with the digits of a 32-bit one: 0.1 and not 0.10000000149011612.
pub(crate) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(value.into())
}

/// A float as a JSON number: a whole one without a decimal point.
pub(crate) fn whole_or_float(value: f64) -> serde_json::Value {
    let is_whole = value.fract() == 0.0 && value.abs() < (1_u64 << 53) as f64;
    if is_whole { (value as i64).into() } else { value.into() }
}

/// A distance as a JSON number, of the same digits as in a .csv.
pub(crate) fn number(distance: Distance) -> serde_json::Value {
    match distance {
        Distance::Unsigned(value) => value.into(),
        Distance::Signed(value) => value.into(),
        Distance::Single(value) => shortest(value).into(),
        Distance::Double(value) => value.into(),
    }
}

/// A JSON number with the digits that it has in a .csv: 1 and not 1.0.
pub(crate) fn digits(number: &serde_json::Value) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => float.to_string(),
        None => number.to_string(),
    }
}

/// A sum of distances as a JSON number; one that no 64-bit integer holds is rounded to a float.
pub(crate) fn sum(sum: DistanceSum) -> serde_json::Value {
    match sum {
        DistanceSum::Integer(value) => {
            let small = u64::try_from(value).map(Into::into).or_else(|_| i64::try_from(value).map(Into::into));
            small.unwrap_or_else(|_| (value as f64).into())
        }
        DistanceSum::Float(value) => value.into(),
    }
}

/// A number of bytes with a unit.
pub(crate) fn bytes(number: u64) -> String {
    warpath::Bytes(number).to_string()
}

/// A time, with a unit that suits it.
pub(crate) fn seconds(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0} s"),
        v if v >= 1.0 => format!("{v:.2} s"),
        v if v >= 1e-3 => format!("{:.2} ms", v * 1e3),
        v => format!("{:.0} us", v * 1e6),
    }
}

/// The plan of some work, and the memory and disk space available.
#[derive(Debug, Serialize)]
struct PlanShown<'a> {
    #[serde(flatten)]
    decision: Option<DecisionShown<'a>>,
    plan: Vec<ItemShown>,
    memory_bytes: u64,
    memory_available: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_available: Option<u64>,
    disk_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_available: Option<u64>,
    fits: bool,
    /// What a rank is predicted to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<serde_json::Value>,
}

/// How a request would be answered.
#[derive(Debug, Serialize)]
struct DecisionShown<'a> {
    engine: &'static str,
    engine_reason: &'a str,
    algorithm: &'a str,
    reason: &'a str,
    number_types: &'static [&'static str],
}

impl<'a> DecisionShown<'a> {
    fn of(decision: &'a Decision) -> Self {
        DecisionShown {
            engine: decision.engine(),
            engine_reason: decision.engine_reason(),
            algorithm: decision.algorithm(),
            reason: decision.reason(),
            number_types: decision.number_types(),
        }
    }
}

/// The available amounts of what a plan needs, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Available {
    pub(crate) memory: u64,
    /// Memory of the device, if the work runs there.
    pub(crate) device: Option<u64>,
    /// Space on the output's disk, if the output is a file.
    pub(crate) disk: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ItemShown {
    what: String,
    place: &'static str,
    bytes: u64,
}

/// Prints a plan with the available amounts, and with the decision that it belongs to, if any.
pub(crate) fn plan(
    decision: Option<&Decision>,
    plan: &Plan,
    available: Available,
    as_json: bool,
) -> Result<(), Failure> {
    plan_with_traffic(decision, plan, available, as_json, None)
}

/// The same with what a rank is predicted to send, which only JSON shows.
pub(crate) fn plan_with_traffic(
    decision: Option<&Decision>,
    plan: &Plan,
    available: Available,
    as_json: bool,
    traffic: Option<serde_json::Value>,
) -> Result<(), Failure> {
    let decision = decision.map(DecisionShown::of);
    let items = |items: &[warpath::PlanItem], place| -> Vec<ItemShown> {
        items.iter().map(|item| ItemShown { what: item.what.clone(), place, bytes: item.bytes }).collect()
    };
    let mut shown = items(plan.memory_items(), "memory");
    let device = if plan.devices() > 1 { "each device" } else { "the device" };
    shown.extend(items(plan.device_items(), device));
    shown.extend(items(plan.disk_items(), "disk"));
    let fits_in_memory = plan.memory_bytes() <= available.memory;
    let fits_on_device = available.device.is_none_or(|available| plan.device_bytes() <= available);
    let fits_on_disk = available.disk.is_none_or(|available| plan.disk_bytes() <= available);
    if as_json {
        return json(&PlanShown {
            decision,
            plan: shown,
            memory_bytes: plan.memory_bytes(),
            memory_available: available.memory,
            devices: available.device.map(|_| plan.devices()),
            device_bytes: available.device.map(|_| plan.device_bytes()),
            device_available: available.device,
            disk_bytes: plan.disk_bytes(),
            disk_available: available.disk,
            fits: fits_in_memory && fits_on_device && fits_on_disk,
            traffic,
        });
    }
    let mut table = Table::new();
    if let Some(decision) = decision {
        table.row("engine", format!("{}: {}", decision.engine, decision.engine_reason));
        table.row("algorithm", format!("{}: {}", decision.algorithm, decision.reason));
        table.row("number types", decision.number_types.join(", else "));
    }
    for item in &shown {
        table.row(item.what.as_str(), format!("{} of {}", bytes(item.bytes), item.place));
    }
    let line = |what: &str, needed, available, fits| {
        let verdict = if fits { "it fits" } else { "it does not fit" };
        format!("{} of {what}, {} available: {verdict}", bytes(needed), bytes(available))
    };
    table.row("in all", line("memory", plan.memory_bytes(), available.memory, fits_in_memory));
    if let Some(available) = available.device {
        let each = match plan.devices() {
            1 => device.to_owned(),
            devices => format!("each of {devices} devices"),
        };
        table.row("", line(&each, plan.device_bytes(), available, fits_on_device));
    }
    if let Some(available) = available.disk {
        table.row("", line("disk space", plan.disk_bytes(), available, fits_on_disk));
    }
    table.print()
}

/// The peak memory of this process in bytes; 0 if the system does not report it.
pub(crate) fn peak_memory() -> u64 {
    #[cfg(unix)]
    {
        // SAFETY: an all-zero rusage is a valid value, which the call overwrites.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage.
        if unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } == 0 {
            let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
            return usage.ru_maxrss as u64 * unit;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(7), "7");
        assert_eq!(count(1_u32, "vertex", "vertices"), "1 vertex");
        assert_eq!(count(0_usize, "vertex", "vertices"), "0 vertices");
        assert_eq!(grouped(100), "100");
        assert_eq!(seconds(0.0025), "2.50 ms");
    }
}
