import { OutgoingMessage } from "node:http";

/** V8 takes note of what a function meets only after some calls. */
const calls = 256;
let haveMet = false;

/**
 * Has `setHeader` meet many names. As long as an app sets headers of one name only, V8 looks for the very text it saw last;
 * node makes a new one each time, in lower case, so that every request takes the longest way there is. Two names, and V8
 * gives that up: an app that sets one header takes an eighth less from then on.
 */
export function meetManyNames(): void {
  if (haveMet) return;
  haveMet = true;
  const nobodys = new OutgoingMessage();
  for (let i = 0; i < calls; i++) nobodys.setHeader(`X-${i % 8}`, "");
}
