/** Names decisions one after the other: `k3v9x0q2a1-` of this gate alone, then a count. */
export function decisionIds(): () => string {
  let gateId: string | undefined;
  let beginning = "";
  let turns = 0;
  let at = endings.length - 1;

  function begin(): void {
    // With the first decision: Workers give no random numbers while a module loads.
    gateId ??= randomText();
    beginning = gateId + (turns === 0 ? "" : turns.toString(36));
    turns++;
    at = 0;
  }

  return () => {
    if (++at >= endings.length) begin();
    return beginning + endings[at];
  };
}

/** Of a count's last digit: most names are then two texts put together, and no number is written. */
const endings = Array.from({ length: 36 }, (_, i) => i.toString(36));

/** Sets the ids of one gate apart from another's, in this process and elsewhere. */
function randomText(): string {
  const words = crypto.getRandomValues(new Uint32Array(2));
  return `${((words[0] as number) * 2 ** 20 + ((words[1] as number) >>> 12)).toString(36)}-`;
}
