/** V8 takes note of what a function meets only after some calls. */
const calls = 64;
let haveMet = false;

/**
 * Has node's `setHeader` meet many names. As long as all headers an app sets have one name, V8 looks for the very text it saw
 * last; node makes a new one each time, in lower case, so that every request takes the longest way there is. Two names, and
 * V8 gives that up: an app that sets one header, behind a gate that shows none, takes an eighth less from then on.
 */
export function meetManyNames(): void {
  if (haveMet) return;
  haveMet = true;
  try {
    const http = globalThis.process?.getBuiltinModule?.("node:http");
    if (http === undefined) return;
    const nobodys = new http.OutgoingMessage();
    for (let i = 0; i < calls; i++) nobodys.setHeader(`X-${i % 8}`, "");
  } catch {
    // Somebody has put a method of his own in its place: then it is his to be fast.
  }
}
