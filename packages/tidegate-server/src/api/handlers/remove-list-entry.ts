import { notFound } from "../api-problem.js";
import type { Handler } from "../handler.js";
import { listNamed } from "../list-named.js";
import { note } from "../note.js";
import type { ListRemovedAnswer } from "../types.js";

export const removeListEntry: Handler<ListRemovedAnswer> = async (parts, ask) => {
  const { gate } = parts;
  const list = listNamed(ask.param("list"));
  const address = ask.param("address");
  const who = ask.who();
  const earlier = await gate[list].entries();
  const wasThere = await gate[list].remove(address);
  if (!wasThere) throw absent(list, address, gate.policy[list] ?? []);
  const left = new Set((await gate[list].entries()).map((entry) => entry.address));
  // It may be written there another way than it was asked for.
  const gone = earlier.filter((entry) => !left.has(entry.address));
  const before = gone.find((entry) => entry.address === address) ?? (gone.length === 1 ? gone[0] : undefined);
  const removed = before?.address ?? address;
  await note(parts, {
    who,
    what: `${list}.remove`,
    target: removed,
    ...(before !== undefined && { before }),
  });
  return { body: { list, removed } };
};

function absent(list: string, address: string, fromPolicy: readonly string[]) {
  return fromPolicy.includes(address)
    ? notFound(`The ${list} has this entry from the policy.`, "Take it out of the policy.")
    : notFound(
        `The ${list} has no such entry.`,
        `GET /v1/lists/${list} lists them; a block is named as a whole.`,
      );
}
