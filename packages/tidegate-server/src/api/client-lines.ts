import type { Subject } from "tidegate";
import type { SeenClient } from "../live/seen-clients.js";
import type { AdminParts } from "./handler.js";
import { requestOf } from "./remembered.js";
import type { ClientsAnswer } from "./types.js";

/** What each would get now is found out of so many: every one asks the store. */
const mostJudged = 20;

/** Clients as people are told of them. */
export async function clientLines(
  { gate }: Pick<AdminParts, "gate">,
  seen: readonly SeenClient[],
  most: number,
): Promise<ClientsAnswer> {
  const clients = await Promise.all(
    seen.slice(0, most).map(async ({ about, ...each }, place) => ({
      ...each,
      allowed:
        place < mostJudged
          ? await isAllowed(gate, about === undefined ? { ip: addressOf(each) } : requestOf(about))
          : null,
    })),
  );
  return { clients, count: seen.length };
}

/** Of a block any address will do: they are counted as one. */
function addressOf({ ip, client }: SeenClient): string {
  return ip ?? (client.split("/", 1)[0] as string);
}

async function isAllowed(gate: AdminParts["gate"], subject: Partial<Subject>): Promise<boolean | null> {
  try {
    return (await gate.explain(subject)).allowed;
  } catch {
    // What came lately is worth telling all the same.
    return null;
  }
}
