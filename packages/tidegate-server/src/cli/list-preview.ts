import { Argument, type Command } from "commander";
import type { ListPreviewAnswer, PreviewedEntry } from "../api/types.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { seenText } from "./client-seen.js";
import { exit } from "./exit.js";

export function addListPreview(list: Command, act: Acting): void {
  list
    .command("preview")
    .description(
      "Whom entries would hit among clients seen lately, and what stands in the way. Adds nothing. Ends with 1 when something does.",
    )
    .addArgument(new Argument("<list>", "which").choices(["safelist", "blocklist"]))
    .argument("<addresses...>", "203.0.113.7, 2001:db8::/32")
    .addHelpText("after", examples("tidegate list preview blocklist 203.0.113.0/24"))
    .action(
      act(async (cli, _flags: Flags, name: string, addresses: string[]) => {
        const path = `/v1/lists/${name}/preview`;
        const answer = (await cli.admin().send("POST", path, { addresses })) as ListPreviewAnswer;
        const notes = answer.entries.flatMap(notesOf);
        if (cli.isJson) cli.printJson(answer);
        else {
          for (const note of notes) cli.note(printable(note));
          cli.print(seenText(answer));
        }
        return notes.length === 0 ? exit.ok : exit.no;
      }),
    );
}

function notesOf({ address, problem, slip, now }: PreviewedEntry): string[] {
  return [
    ...(problem === undefined ? [] : [`${address}: ${problem}`]),
    ...(slip === undefined ? [] : [`${slip} It takes --force.`]),
    ...(now === undefined ? [] : [`${address} is there already, by ${now.who ?? "?"} (${now.why ?? "–"}).`]),
  ];
}
