import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** Puts a page's script and style into the page itself, which then needs no file beside it, and lets nothing else run there or be asked for. */
export function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        let script = "";
        let style = "";
        const pages: { source: string | Uint8Array }[] = [];
        for (const [name, file] of Object.entries(bundle)) {
          if (file.type === "chunk") script += file.code;
          else if (name.endsWith(".css")) style += String(file.source);
          else if (name.endsWith(".html")) {
            pages.push(file);
            continue;
          } else throw new Error(`${name} can not be put into the page`);
          delete bundle[name];
        }
        for (const page of pages) page.source = inlined(String(page.source), script, style);
      },
    },
  };
}

function inlined(page: string, script: string, style: string): string {
  // Within a script nothing else may end it, nor begin a comment of the page's.
  const code = `\n${script.trim().replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--")}\n`;
  const rules = `\n${style.trim()}\n`;
  const policy = `default-src 'none'; script-src '${digest(code)}'; style-src '${digest(rules)}'; base-uri 'none'; form-action 'none'`;
  const bare = page.replace(/\s*<(?:script|link)[^>]*\s(?:src|href)="[^"]*"[^>]*>(?:<\/script>)?/g, "");
  const [head, body] = cut(bare, "</head>");
  const [begin, end] = cut(body, "</body>");
  const [charset, rest] = cut(head, '<meta charset="utf-8" />');
  return `${charset}<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />${rest}<style>${rules}</style>\n  </head>${begin}<script type="module">${code}</script>\n  </body>${end}`;
}

/** Not by `replace`, which would read `$&` in the code as its own. */
function cut(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`The page has no ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
