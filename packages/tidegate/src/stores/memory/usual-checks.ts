import { type Check, isCost, verdictOf } from "../../check.js";
import type { Verdict } from "../../decision.js";
import { maxCells, Reading, Ruling } from "../../limit.js";
import type { Binding, Bindings } from "./bindings.js";
import type { KeyInHand } from "./key-in-hand.js";

/** In one decision; more than these are judged the long way. */
const most = 16;
// Of the check in hand: nothing else runs between writing and reading them.
const ruling = new Ruling();
const reading = new Reading();
/** What stood in the cells of each check that is charged. */
const before = new Float64Array(most * maxCells);

/**
 * Several checks while nobody is held, as long as all are known and all allow: most decisions. Each is charged as it is
 * met, with all that takes in local variables. The first that is not so has everything put back as it was.
 */
export class UsualChecks {
  readonly #bindings: Bindings;
  readonly #hand: KeyInHand;
  readonly #charged = Array.from({ length: most }, () => new Charged());

  constructor(bindings: Bindings, hand: KeyInHand) {
    this.#bindings = bindings;
    this.#hand = hand;
  }

  /** Undefined, with nothing done, where there is more to it: one is new, is refused, or something about it is unusual. */
  decide(checks: readonly Check[], now: number, areSound: boolean): Verdict[] | undefined {
    if (checks.length > most) return undefined;
    const verdicts: Verdict[] = [];
    let charged = 0;
    try {
      for (; charged < checks.length; charged++) {
        if (!areSound && !isSound(checks, charged)) break;
        const verdict = this.#charge(checks, charged, now, areSound);
        if (verdict === undefined) break;
        verdicts.push(verdict);
      }
    } catch {
      // The long way meets it too, before anything is charged.
    }
    if (charged === checks.length) return verdicts;
    this.#putBack(charged);
    return undefined;
  }

  #charge(checks: readonly Check[], at: number, now: number, isSound: boolean): Verdict | undefined {
    const check = checks[at] as Check;
    const { rule, key, limit, cost = 1 } = check;
    if (limit.cells === 0 || limit.countsOffences === true) return undefined;
    const hand = this.#hand;
    if (at === 0 || key !== (checks[at - 1] as Check).key) hand.take(key, check.hashed, isSound);
    const charged = this.#charged[at] as Charged;
    let { binding } = charged;
    if (binding === undefined || binding.limit !== limit || binding.rule !== rule)
      charged.binding = binding = this.#bindings.of(rule, limit);
    const high = hand.highOf(binding);
    const segment = binding.table.segmentOf(high);
    const offset = segment.find(hand.lowOf(binding), high);
    if (offset < 0) return undefined;
    const { cells } = segment;
    ruling.delayMs = Number.NaN;
    ruling.estimate = Number.NaN;
    limit.step(cells, offset, now, cost, ruling);
    if (!ruling.allowed) return undefined;
    const after = ruling.ifAllowed;
    limit.read(after, 0, now, cost, reading);
    const verdict = verdictOf(check, ruling, reading, true, now, 0);
    charged.cells = cells;
    charged.offset = offset;
    for (let cell = 0; cell < limit.cells; cell++) {
      before[at * maxCells + cell] = cells[offset + cell] as number;
      cells[offset + cell] = after[cell] as number;
    }
    return verdict;
  }

  /** Undoes what the first so many checks charged. Nothing was added meanwhile, so all lies where it lay. */
  #putBack(count: number): void {
    for (let i = count - 1; i >= 0; i--) {
      const { binding, cells, offset } = this.#charged[i] as Charged;
      const { limit } = binding as Binding;
      for (let cell = 0; cell < limit.cells; cell++)
        cells[offset + cell] = before[i * maxCells + cell] as number;
    }
  }
}

/** Where a check was charged. */
class Charged {
  binding: Binding | undefined = undefined;
  cells: Float64Array = new Float64Array();
  offset = 0;
}

/** Whether a check has a key and a cost, and no other of its rule before it but such as differ from it in the limit alone. */
function isSound(checks: readonly Check[], at: number): boolean {
  const { rule, key, limit, cost = 1, shadow, id } = checks[at] as Check;
  if (typeof key !== "string" || key === "") return false;
  if (!isCost(cost)) return false;
  for (let i = 0; i < at; i++) {
    const other = checks[i] as Check;
    if (other.rule !== rule) continue;
    const isLike =
      other.key === key && (other.cost ?? 1) === cost && other.shadow === shadow && other.id === id;
    if (!isLike || other.limit.id === limit.id) return false;
  }
  return true;
}
