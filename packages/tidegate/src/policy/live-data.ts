import type { Clock } from "../clock.js";
import type { CustomerRecord, Directory, ListName } from "../directory.js";
import { parseDuration } from "../duration.js";
import { ConfigError, shown } from "../errors.js";
import type { AddressList, Customers } from "../gate.js";
import { rejectUnknownOptions } from "../limit.js";
import { blockText, parseAddress, parseBlock } from "./identity/address.js";
import { inTurn } from "./in-turn.js";
import type { Mirror } from "./lists/mirror.js";
import { isEveryone, notAnAddress } from "./policy.js";
import { mostOverrides, unknownTier } from "./tiers.js";

const aWeek = 604_800_000;

/** A list as people change it. What is written holds here at once, and elsewhere as soon as the directory tells. */
export function liveList(list: ListName, directory: Directory, mirror: Mirror, clock: Clock): AddressList {
  return {
    async add(address, options = {}) {
      rejectUnknownOptions(options, ["who", "why", "for"], `${list}.add`);
      const { who, why, for: duration } = options;
      const until = duration === "permanent" ? undefined : clock() + parseDuration(duration ?? aWeek, "for");
      const entry = {
        address: canonical(address, list),
        ...(who !== undefined && { who }),
        ...(why !== undefined && { why }),
        ...(until !== undefined && { until }),
      };
      await directory.put(list, entry);
      mirror.listed(list, entry);
      return entry;
    },
    async remove(address) {
      const text = canonical(address, list);
      let wasThere = false;
      // Someone else may have written it otherwise.
      for (const spelling of new Set([text, address, ...mirror.spellings(list, text)])) {
        if (await directory.remove(list, spelling)) wasThere = true;
        mirror.unlisted(list, spelling);
      }
      return wasThere;
    },
    entries: async () => directory.entries(list),
    find(address) {
      const parsed = parseAddress(address);
      if (parsed === undefined) throw notAnAddress(address, list);
      return mirror.find(list, parsed);
    },
  };
}

function canonical(address: string, list: ListName): string {
  const block = typeof address === "string" ? parseBlock(address) : undefined;
  if (block === undefined) throw notAnAddress(address, list);
  if (block.prefix === 0) throw isEveryone(address, list, list);
  return blockText(block.address, block.prefix);
}

/** Customers as people change them. `tiers` names those in force. */
export function liveCustomers(
  directory: Directory,
  mirror: Mirror,
  tiers: () => readonly string[],
): Customers {
  const turnOf = inTurn();

  /** A record is written whole, so a change begins when the one before it is there. */
  async function change(
    id: string,
    part: { [Name in keyof CustomerRecord]: CustomerRecord[Name] | undefined },
  ): Promise<void> {
    const { tier, limits } = { ...(await directory.customer(id)), ...part };
    await directory.putCustomer(id, {
      ...(tier !== undefined && { tier }),
      ...(limits !== undefined && { limits }),
    });
    mirror.customerChanged(id);
  }

  return {
    get: async (id) => directory.customer(validId(id)),
    async setTier(id, tier) {
      if (tier !== undefined && !tiers().includes(tier)) throw noSuchTier(tier, tiers());
      const own = validId(id);
      await turnOf(own, () => change(own, { tier }));
    },
    async setLimits(id, limits) {
      const own = validId(id);
      const part = { limits: limits && parseOverrides(limits) };
      await turnOf(own, () => change(own, part));
    },
  };
}

function noSuchTier(tier: unknown, names: readonly string[]): ConfigError {
  if (names.length > 0) return unknownTier(tier, "tier", names);
  const help = "The policy has no tiers: name some there first.";
  return new ConfigError("TG_TIER_UNKNOWN", "tier", `there is no tier ${shown(tier)}.`, help);
}

/** Longer ones are not looked up either. */
const longestId = 1024;

function validId(id: unknown): string {
  if (typeof id === "string" && id !== "" && id.length <= longestId) return id;
  if (typeof id === "number") return String(id);
  throw new TypeError(
    `customer: ${shown(id)} is not an id. Give a non-empty string of up to ${longestId} characters.`,
  );
}

function parseOverrides(
  limits: Readonly<Record<number, number>> | ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const entries: [unknown, number][] = limits instanceof Map ? [...limits] : Object.entries(limits);
  if (entries.length > mostOverrides) throw tooManyOverrides(entries.length);
  return new Map(
    entries.map(([text, limit]) => {
      const seconds = Number(text);
      if (!(Number.isInteger(seconds) && seconds >= 1 && seconds <= 315_360_000))
        throw badOverride(text, "a window in whole seconds");
      if (!(Number.isSafeInteger(limit) && limit >= 0)) throw badOverride(limit, "a limit");
      return [seconds, limit];
    }),
  );
}

function tooManyOverrides(count: number): ConfigError {
  return new ConfigError(
    "TG_OVERRIDE",
    "limits",
    `${count} windows are too many for one customer.`,
    `Write ${mostOverrides} at most.`,
  );
}

function badOverride(value: unknown, what: string): ConfigError {
  return new ConfigError(
    "TG_OVERRIDE",
    "limits",
    `${shown(value)} is not ${what}.`,
    "Write windows in whole seconds and whole limits, e.g. { 60: 100, 3600: 1000 }.",
  );
}
