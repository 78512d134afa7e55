import { fileURLToPath } from "node:url";
import { TidegateError } from "tidegate";
import type { Plot } from "./plot.js";
import { svgPlot } from "./svg-plot.js";

/** A machine may have no fonts, and a plot without its letters says nothing. Brought along: Open Sans, Latin letters. */
const font = fileURLToPath(new URL("../../fonts/open-sans.ttf", import.meta.url));

export interface PngOptions {
  /** Default `"light"`. */
  readonly theme?: "light" | "dark";
  /** Pixels of the picture for one of the plot. Default 2. */
  readonly scale?: number;
  /** Letters that ours has not are taken from the machine's fonts. Default true. */
  readonly useSystemFonts?: boolean;
}

/** A plot as a PNG. What draws it is loaded only now. */
export async function pngPlot(
  plot: Plot,
  { theme = "light", scale = 2, useSystemFonts = true }: PngOptions = {},
): Promise<Uint8Array> {
  const { Resvg } = await loaded();
  const drawing = new Resvg(svgPlot(plot, { theme }), {
    fitTo: { mode: "zoom", value: scale },
    font: {
      fontFiles: [font],
      defaultFontFamily: "Open Sans",
      sansSerifFamily: "Open Sans",
      loadSystemFonts: useSystemFonts,
    },
  });
  return drawing.render().asPng();
}

async function loaded(): Promise<typeof import("@resvg/resvg-js")> {
  try {
    return await import("@resvg/resvg-js");
  } catch (cause) {
    throw new TidegateError(
      "TG_PNG",
      "PNGs can not be drawn here: @resvg/resvg-js did not load.",
      "Install it for this platform (npm install @resvg/resvg-js), or write the plot with --svg or --html.",
      { cause },
    );
  }
}
