import { Argument, type Command } from "commander";
import { examples, type Flags, type Verbs } from "./cli.js";

export const addCompletion: Verbs = (program, act) => {
  program
    .command("completion")
    .summary("print a script that completes commands in a shell")
    .description("Prints a script for your shell, after which Tab completes commands and options.")
    .addArgument(new Argument("<shell>", "which one").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      examples(
        "tidegate completion bash > /etc/bash_completion.d/tidegate",
        "tidegate completion zsh > ~/.zfunc/_tidegate",
        "tidegate completion fish > ~/.config/fish/completions/tidegate.fish",
      ),
    )
    .action(
      act((cli, _flags: Flags, shell: string) => {
        const known = wordsByPath(program);
        if (shell === "fish") cli.print(fishScript(known));
        else cli.print(shell === "zsh" ? zshScript(known) : bashScript(known));
      }),
    );
};

/** What may follow each command: `""`, `list`, `list add`, and so on. */
function wordsByPath(program: Command): Map<string, string[]> {
  const known = new Map<string, string[]>();
  const everywhere = optionsOf(program);
  function visit(command: Command, path: string[]): void {
    const names = command.commands.map((each) => each.name());
    const choices = command.registeredArguments[0]?.argChoices ?? [];
    known.set(path.join(" "), [
      ...names,
      ...choices,
      ...new Set([...optionsOf(command), ...everywhere, "--help"]),
    ]);
    for (const each of command.commands) visit(each, [...path, each.name()]);
  }
  visit(program, []);
  return known;
}

function optionsOf({ options }: Command): string[] {
  return options.flatMap(({ long }) => (long == null ? [] : [long]));
}

/** The path is made of the words so far, as long as they are commands. */
function bashScript(known: Map<string, string[]>): string {
  return `# bash completion for tidegate
_tidegate() {
  local so_far="" choices="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
${growing(known)}
  done
${wordsCases(known)}
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tidegate tidegate
`;
}

function zshScript(known: Map<string, string[]>): string {
  return `#compdef tidegate
_tidegate() {
  local -a typed=("\${words[@]:1:$((CURRENT - 2))}")
  local so_far="" choices="" word
  for word in "\${typed[@]}"; do
${growing(known)}
  done
${wordsCases(known)}
  compadd -- \${=choices} || _files
}
if [ "$funcstack[1]" = "_tidegate" ]; then _tidegate "$@"; else compdef _tidegate tidegate; fi
`;
}

function growing(known: Map<string, string[]>): string {
  const paths = [...known.keys()].filter((path) => path !== "").map((path) => `" ${path}"`);
  return `    case "$so_far $word" in
      ${paths.join(" | ")}) so_far="$so_far $word" ;;
    esac`;
}

function wordsCases(known: Map<string, string[]>): string {
  const cases = [...known].map(
    ([path, words]) => `    "${path === "" ? "" : ` ${path}`}") choices="${words.join(" ")}" ;;`,
  );
  return `  case "$so_far" in\n${cases.join("\n")}\n  esac`;
}

function fishScript(known: Map<string, string[]>): string {
  const lines = [...known].map(([path, words]) => {
    const parts = path === "" ? [] : path.split(" ");
    const next = words.filter((word) => !word.startsWith("--") && known.has([...parts, word].join(" ")));
    const when = [
      ...parts.map((part) => `__fish_seen_subcommand_from ${part}`),
      ...(next.length > 0 ? [`not __fish_seen_subcommand_from ${next.join(" ")}`] : []),
      ...(parts.length === 0 && next.length === 0 ? ["true"] : []),
    ].join("; and ");
    return `complete -c tidegate -n '${when}' -a '${words.join(" ")}'`;
  });
  return `# fish completion for tidegate\n${lines.join("\n")}\n`;
}
