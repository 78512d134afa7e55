import type { Subject } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import type { RefusalFacts, RefusedRequest } from "../refusal.js";
import type { AdminParts } from "./handler.js";

/** A refused request as it is judged again: of headers only the user agent is remembered. */
export function requestOf({ userAgent, ...facts }: RefusalFacts): Partial<Subject> {
  return {
    ...facts,
    // As everything that meets traffic here has it.
    ignoresCase: true,
    header: (name) => (name.toLowerCase() === "user-agent" ? userAgent : undefined),
  };
}

/** What was given, and for all that was left out this request. */
export function filledIn(given: Partial<Subject>, about: RefusalFacts): Partial<Subject> {
  const request = requestOf(about);
  return { ...request, ...given, header: (name) => given.header?.(name) ?? request.header?.(name) };
}

/** Refused requests of the address that was given, newest first; before all others those that differ in nothing else that was. */
export async function rememberedOf(
  { refused }: Pick<AdminParts, "refused">,
  given: Partial<Subject>,
): Promise<RefusedRequest[]> {
  const address = given.ip === undefined ? undefined : canonicalBlock(given.ip);
  if (address === undefined || refused === undefined) return [];
  const { ip: _, header, ignoresCase: __, ...facts } = given;
  const userAgent = header?.("user-agent");
  const isMeant = ({ about }: RefusedRequest): boolean =>
    (userAgent === undefined || about.userAgent === userAgent) &&
    Object.entries(facts).every(([name, fact]) => about[name as keyof RefusalFacts] === fact);
  const found = newestFirst(await refused({ within: [address] }));
  return [...found.filter(isMeant), ...found.filter((each) => !isMeant(each))];
}

/** With workers a client may stand there once for each of them. */
export function newestFirst(
  clients: readonly { readonly lately: readonly RefusedRequest[] }[],
): RefusedRequest[] {
  return clients.flatMap(({ lately }) => lately).sort((one, other) => other.at - one.at);
}
