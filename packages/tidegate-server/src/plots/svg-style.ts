export type Theme = "auto" | "light" | "dark";

const shapes = `text { font: 12px system-ui, "Open Sans", sans-serif } .title { font-size: 16px; font-weight: 600 } .name { font-weight: 600 }
.grid, .frame { stroke-width: 1 } polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round } .dashed { stroke-dasharray: 5 4; stroke-width: 1.2 }`;

/** Colours that differ in lightness too, for paper and for screens by night. */
const light = `.paper { fill: #ffffff } text, .dot { fill: #24292f } .grid { stroke: #d8dee4 } .frame { stroke: #57606a }
.red { stroke: #c8321e } .green { stroke: #1a7f4b } .blue { stroke: #0b62c4 } .purple { stroke: #7b2fbe } .orange { stroke: #a85a00 } .grey { stroke: #6e7781 }`;
const dark = `.paper { fill: #0d1117 } text, .dot { fill: #e6edf3 } .grid { stroke: #30363d } .frame { stroke: #8b949e }
.red { stroke: #ff8370 } .green { stroke: #4cc38a } .blue { stroke: #6cb2ff } .purple { stroke: #c99cff } .orange { stroke: #f0a848 } .grey { stroke: #8b949e }`;

export function svgStyle(theme: Theme): string {
  const colours =
    theme === "auto"
      ? `${light}\n@media (prefers-color-scheme: dark) {\n${dark}\n}`
      : theme === "dark"
        ? dark
        : light;
  return `<style>\n${shapes}\n${colours}\n</style>`;
}
