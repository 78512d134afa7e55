import type { Docket } from "../docket.js";
import type { DecideOptions } from "../gate.js";
import type { Candidate } from "./candidates.js";
import type { Customer } from "./customer.js";
import type { NewcomerCap } from "./newcomers.js";
import type { CompiledPolicy } from "./policy.js";
import { isAdmitted } from "./questions.js";
import type { ReceivedRequest } from "./request.js";

/** Whether a caller leaves it to the rules what is asked and what it weighs. */
export function asksNothing(asked: DecideOptions | undefined): boolean {
  return asked === undefined || (asked.rule ?? asked.cost ?? asked.id) === undefined;
}

/** Writes down what `Questions` come to where a policy is brief and the caller asks nothing. */
export function askBriefly(
  docket: Docket,
  policy: CompiledPolicy,
  request: ReceivedRequest,
  customer: Customer | undefined,
  newcomers: NewcomerCap | undefined,
): void {
  const { client, subject } = request;
  const candidates = policy.candidates.of(subject);
  docket.count = 0;
  for (let i = 0; i < candidates.length; i++) {
    const { rule, applies } = candidates[i] as Candidate;
    if (!(applies ?? (rule.matches === undefined || rule.matches(subject, request.readings)))) continue;
    const key = rule.keyOf(request);
    if (key === undefined) continue;
    const levels = rule.levels ?? policy.tiers.of(customer);
    if (isAdmitted(newcomers, rule, key, request)) {
      docket.add(rule.asks.own(levels), key, rule.isByIp ? client : rule.isByCustomer ? customer : undefined);
    } else {
      docket.add(rule.asks.crowd(levels), client.network, undefined);
      docket.add(rule.asks.beside(levels), key, undefined);
    }
  }
}
