import { label } from "../peers/index.mjs";
import { median, pairedDifferences, pairedRatios, quantile, spreadOfMedian } from "./stats.mjs";

const HIGHER = new Set(["rate"]);

/** What a measure's `rows` builds its lines with. */
export function rowBuilder(samples) {
  const values = (contestant, at, metric) => samples[contestant]?.[at]?.map((sample) => sample[metric]);

  return {
    row({ what, metric, unit, ours, peers, at = "", peersAt = at, bar }) {
      const higher = HIGHER.has(metric);
      const candidates = [peers]
        .flat()
        .flatMap((pattern) =>
          pattern.startsWith(".")
            ? Object.keys(samples).filter(
                (name) => name.endsWith(pattern) && !/^(tidegate|bare)\./.test(name),
              )
            : [pattern],
        )
        .map((name) => ({ name, values: values(name, peersAt, metric) }))
        .filter((candidate) => candidate.values?.length > 0)
        .map((candidate) => ({ ...candidate, median: median(candidate.values) }))
        .sort((a, b) => (higher ? b.median - a.median : a.median - b.median));
      const mine = values(ours, at, metric);
      const best = candidates[0];
      const own = mine?.length > 0 ? median(mine) : undefined;
      const ratios = own !== undefined && best !== undefined ? pairedRatios(mine, best.values) : [];
      const ratio = ratios.length > 0 ? median(ratios) : undefined;
      return {
        what,
        unit: unit ?? "/s",
        ours: own,
        peer: best?.median,
        peerName: best && (best.name === ours ? `itself at ${peersAt}` : label(best.name)),
        ratio,
        spread: spreadText(ratios, "×"),
        bar: bar && barText(bar, unit),
        met: bar && own !== undefined ? isMet(bar, own, ratio) : undefined,
      };
    },

    /** What ours costs more than the same without it. */
    added({ what, metric, unit, ours, without, bar }) {
      const mine = values(ours, "", metric) ?? [];
      const base = values(without, "", metric) ?? [];
      const differences = pairedDifferences(mine, base);
      const own = differences.length > 0 ? median(differences) : undefined;
      return {
        what,
        unit,
        ours: own,
        peer: base.length > 0 ? median(base) : undefined,
        peerName: label(without),
        spread: spreadText(differences, unit),
        bar: barText(bar, unit),
        met: own === undefined ? undefined : isMet(bar, own),
      };
    },

    /** As above, where each sample is of both. */
    addedTo({ what, metric, without, unit, ours, bar }) {
      const mine = values(ours, "", metric) ?? [];
      const base = values(ours, "", without) ?? [];
      const differences = pairedDifferences(mine, base);
      const own = differences.length > 0 ? median(differences) : undefined;
      return {
        what,
        unit,
        ours: own,
        peer: base.length > 0 ? median(base) : undefined,
        peerName: "the same without",
        spread: spreadText(differences, unit),
        bar: bar && barText(bar, unit),
        met: bar && own !== undefined ? isMet(bar, own) : undefined,
      };
    },

    /** As above, by the quarter of all windows in which the machine disturbed least: each sample has the figures of several. */
    addedInQuiet({ what, metric, without, unit, ours, bar }) {
      const quiet = (name) => quantile((values(ours, "", name) ?? []).flat(), 0.25);
      const [own, base] = [quiet(metric), quiet(without)];
      const added = Number.isNaN(own) ? undefined : own - base;
      return {
        what,
        unit,
        ours: added,
        peer: base,
        peerName: "the same without",
        bar: bar && barText(bar, unit),
        met: bar && added !== undefined ? isMet(bar, added) : undefined,
      };
    },

    /** What ours adds to `without`, beside what each of the others adds to it. Ahead is who adds less than every one. */
    addedBeside({ what, metric, unit, ours, peers, without, bar }) {
      const added = (name) => {
        const differences = pairedDifferences(
          values(name, "", metric) ?? [],
          values(without, "", metric) ?? [],
        );
        return differences.length > 0 ? median(differences) : undefined;
      };
      // Pair by pair, and by what is shown: where the two disagree, noise speaks.
      const isBehind = (name) =>
        median(pairedDifferences(values(ours, "", metric), values(name, "", metric))) < 0;
      return beside({ what, unit, ours, peers, added, bar, isBehind });
    },

    /** As above, by the quarter of each one's windows in which the machine disturbed least. */
    addedBesideInQuiet({ what, metric, unit, ours, peers, without }) {
      const quiet = (name) => quantile((values(name, "", metric) ?? []).flat(), 0.25);
      const added = (name) => {
        const own = quiet(name) - quiet(without);
        return Number.isNaN(own) ? undefined : own;
      };
      return beside({ what, unit, ours, peers, added });
    },
  };
}

function beside({ what, unit, ours, peers, added, bar, isBehind }) {
  const own = added(ours);
  const rivals = peers
    .map((name) => ({ name, added: added(name) }))
    .filter((rival) => rival.added !== undefined)
    .sort((a, b) => a.added - b.added);
  const best = rivals[0];
  const isComparable = own !== undefined && best !== undefined;
  return {
    what,
    unit,
    ours: own,
    peer: best?.added,
    peerName: best && label(best.name),
    ratio: isComparable && best.added > 0 ? own / best.added : undefined,
    bar: bar && barText(bar, unit),
    met: bar && isComparable ? own < best.added && rivals.every(({ name }) => isBehind(name)) : undefined,
  };
}

/** How sure a figure is; of a few pairs nothing can be said. */
function spreadText(pairs, unit) {
  return pairs.length < fewest ? undefined : figure(spreadOfMedian(pairs), unit);
}

const fewest = 7;

function barText(bar, unit = "/s") {
  if (bar.from !== undefined) return `≥ ${figure(bar.from, unit)}`;
  if (bar.upTo !== undefined) return `≤ ${bar.upTo} ${unit}`;
  if (bar.under !== undefined) return bar.under === 1 ? "ahead" : `< ${bar.under}×`;
  if (bar.over !== undefined) return bar.over === 1 ? "ahead" : `> ${bar.over}×`;
  if (bar.atLeast !== undefined) return `≥ ${trim(bar.atLeast)}×`;
  if (bar.atMost !== undefined) return `≤ ${trim(bar.atMost)}×`;
  return `< ${bar.below} ${unit}`;
}

function isMet(bar, own, ratio) {
  if (bar.below !== undefined) return own < bar.below;
  if (bar.upTo !== undefined) return own <= bar.upTo;
  if (bar.from !== undefined) return own >= bar.from;
  if (ratio === undefined) return undefined;
  if (bar.over !== undefined) return ratio > bar.over;
  if (bar.under !== undefined) return ratio < bar.under;
  if (bar.atLeast !== undefined) return ratio >= bar.atLeast;
  return ratio <= bar.atMost;
}

const trim = (value) => String(Number(value.toFixed(2)));

export function figure(value, unit) {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (unit === "/s")
    return value >= 1e6 ? `${(value / 1e6).toFixed(2)}M/s` : `${(value / 1e3).toFixed(1)}k/s`;
  const size = Math.abs(value);
  return `${value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)} ${unit}`;
}

/** Columns as wide as they need to be; the first is set left, the others right. */
export function table(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const render = (line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join("  ")
      .trimEnd();
  return [
    render(lines[0]),
    widths.map((width) => "-".repeat(width)).join("  "),
    ...lines.slice(1).map(render),
  ].join("\n");
}
