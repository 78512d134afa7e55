import { RuleChecks } from "../docket.js";
import type { Level } from "./tiers.js";

/** What a rule asks by some levels, its own or a tier's, at a cost of 1. */
export interface RuleAsks {
  /** About a key. */
  own(levels: readonly Level[]): RuleChecks;
  /** About the address block for which a key beyond its share of new ones counts too. */
  crowd(levels: readonly Level[]): RuleChecks;
  /** About such a key itself. */
  beside(levels: readonly Level[]): RuleChecks;
}

export function ruleAsks(rule: string): RuleAsks {
  return {
    own: madeOnce((levels) => checksBy(rule, levels)),
    crowd: madeOnce((levels) => checksBy(crowdOf(rule), levels)),
    beside: madeOnce((levels) => checksBy(rule, levels.filter(countedAlone))),
  };
}

/** Under which name a rule counts what an address block brings beyond its share. */
export function crowdOf(rule: string): string {
  return `${rule} crowd`;
}

/** Whether a limit keeps nothing of what it refuses: then a key is asked about also where it counts for its block. */
export function countedAlone({ limit }: Level): boolean {
  return limit.refusedWeight === 0;
}

function checksBy(rule: string, levels: readonly Level[]): RuleChecks {
  return new RuleChecks(
    rule,
    levels.map(({ limit, name, tier }) => ({
      rule,
      limit,
      cost: 1,
      shadow: false,
      name,
      tier,
      id: undefined,
    })),
  );
}

/** Most rules have one list of levels, others one for each of a few tiers, and customers may have their own. */
function madeOnce(make: (levels: readonly Level[]) => RuleChecks): (levels: readonly Level[]) => RuleChecks {
  const known = new WeakMap<readonly Level[], RuleChecks>();
  const lately: { readonly levels: readonly Level[]; readonly made: RuleChecks }[] = [];
  let oldest = 0;

  function find(levels: readonly Level[]): RuleChecks {
    const made = known.get(levels) ?? make(levels);
    known.set(levels, made);
    lately[oldest] = { levels, made };
    oldest = (oldest + 1) % mostLately;
    return made;
  }

  return (levels) => {
    for (let i = 0; i < lately.length; i++) {
      const each = lately[i] as (typeof lately)[number];
      if (each.levels === levels) return each.made;
    }
    return find(levels);
  };
}

/** To look through so many takes less than to look one up. */
const mostLately = 6;
