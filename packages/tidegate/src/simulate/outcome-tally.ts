import type { Decision } from "../decision.js";
import { Distinct } from "./distinct.js";
import type { KeyId } from "./key-id.js";
import type { PolicyOutcome } from "./rehearsal.js";

/** What a policy said to all requests together. */
export class OutcomeTally {
  #allowed = 0;
  #refused = 0;
  #shadow = 0;
  #delayed = 0;
  #held = 0;
  readonly #refusedClients = new Distinct(2 ** 20);

  /** `client` is the address of whom it was said to. */
  count(decision: Decision, client: KeyId): void {
    if (decision.delayedMs > 0) this.#delayed++;
    if (decision.allowed) {
      this.#allowed++;
      if (isAllowedByShadow(decision)) this.#shadow++;
      return;
    }
    this.#refused++;
    if (decision.reason === "held") this.#held++;
    this.#refusedClients.add(client.low, client.high);
  }

  report(): PolicyOutcome {
    return {
      allowed: this.#allowed,
      refused: this.#refused,
      shadow: this.#shadow,
      delayed: this.#delayed,
      held: this.#held,
      refusedClients: this.#refusedClients.count,
    };
  }
}

function isAllowedByShadow({ reason, verdicts }: Decision): boolean {
  for (let i = 0; i < verdicts.length; i++) if (verdicts[i]?.allowed === false) return true;
  return reason === "blocklist";
}
