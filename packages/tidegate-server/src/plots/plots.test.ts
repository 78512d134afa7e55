import { readyScenarios, runScenario, type Scenario } from "tidegate/simulate";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { linearAxis, logAxis } from "./axes.js";
import { htmlPage } from "./html-page.js";
import type { Line, Panel, Plot } from "./plot.js";
import { pngPlot } from "./png-plot.js";
import { scenarioPlot } from "./scenario-plot.js";
import { svgPlot } from "./svg-plot.js";

const panel: Panel = {
  title: "one",
  x: linearAxis("seconds", 100, { isExact: true }),
  y: linearAxis("calls", 7),
  lines: [
    {
      label: "sent",
      color: "blue",
      points: [
        [0, 0],
        [50, 3],
        [100, 7],
      ],
    },
  ],
};
const plot = (...panels: Panel[]): Plot => ({ title: "A title", about: "About it", panels });

describe("an axis", () => {
  it.each([
    [260, [0, 100, 200], 260],
    [400, [0, 100, 200, 300, 400], 400],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1], 1],
    [0.37, [0, 0.1, 0.2, 0.3], 0.37],
  ])("to exactly %s has round ticks", (most, ticks, to) => {
    expect(linearAxis("x", most, { isExact: true })).toMatchObject({ from: 0, to, ticks });
  });

  it("ends at a tick at or above the most, and of nothing still has a length", () => {
    expect(linearAxis("x", 430).to).toBe(500);
    expect(linearAxis("x", 0).to).toBeGreaterThan(0);
  });

  it("of logarithms has the powers of ten", () => {
    expect(logAxis("y", 0.01, 10)).toMatchObject({
      from: 0.01,
      to: 30,
      ticks: [0.01, 0.1, 1, 10],
      scale: "log",
    });
  });
});

describe("a plot as SVG", () => {
  it.each([1, 2, 3, 4, 5, 7])("has each of its %s panels, with axes, line and legend", (count) => {
    const svg = svgPlot(
      plot(...Array.from({ length: count }, (_, i) => ({ ...panel, title: `panel ${i}` }))),
    );
    expect(svg.match(/<clipPath /g)).toHaveLength(count);
    expect(new Set(svg.match(/clipPath id="[^"]+"/g)).size).toBe(count);
    expect(svg.match(/>sent</g)).toHaveLength(count);
    expect(svg).toContain(`panel ${count - 1}`);
    expect(svg).not.toContain("NaN");
  });

  it("breaks long titles of panels, and cuts what has no end", () => {
    const long = "EARRRL, 8 per second, half-life 10 s, overage 0, all together";
    const names = (title: string) =>
      [...svgPlot(plot({ ...panel, title }, panel, panel)).matchAll(/class="name"[^>]*>([^<]*)</g)].map(
        ([, text]) => text as string,
      );
    expect(names(long).slice(0, 2)).toEqual([
      "EARRRL, 8 per second, half-life 10 s,",
      "overage 0, all together",
    ]);
    for (const title of ["x".repeat(500), "words ".repeat(100)]) {
      expect(names(title).length).toBeLessThanOrEqual(3 + 2);
      expect(Math.max(...names(title).map((text) => text.length))).toBeLessThanOrEqual(43);
      expect(names(title).join("")).toContain("…");
    }
  });

  it("follows the one who looks, or is light or dark as told", () => {
    expect(svgPlot(plot(panel))).toContain("prefers-color-scheme: dark");
    expect(svgPlot(plot(panel), { theme: "light" })).toContain("#ffffff");
    expect(svgPlot(plot(panel), { theme: "dark" })).not.toMatch(/#ffffff|prefers/);
  });

  it("shows what strangers wrote as text", () => {
    const evil = '</text><script>alert(1)</script>"&\u0000\ud800';
    const svg = svgPlot({
      title: evil,
      about: evil,
      panels: [{ ...panel, title: evil, lines: [{ ...(panel.lines[0] as Line), label: evil }] }],
    });
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;??");
    expect(
      htmlPage({ title: evil, about: evil, panels: [panel] }, [
        { title: evil, head: [evil], rows: [[evil]] },
      ]),
    ).not.toContain("<script");
  });
});

it("a plot as PNG has letters, on a machine without fonts too", async () => {
  const drawn = (title: string) => pngPlot({ ...plot(panel), title }, { useSystemFonts: false });
  const [png, other, blank] = await Promise.all([drawn("Some words"), drawn("Other words"), drawn(" ")]);
  expect([...png.slice(1, 4)]).toEqual([..."PNG"].map((letter) => letter.charCodeAt(0)));
  expect(new DataView(png.buffer, png.byteOffset).getUint32(16)).toBe(2 * 720);
  expect(Buffer.from(png).equals(other)).toBe(false);
  expect(png.length).toBeGreaterThan(blank.length);
});

it("a PNG that can not be drawn here says what to do", async () => {
  vi.resetModules();
  vi.doMock("@resvg/resvg-js", () => {
    throw new Error("no binary for this platform");
  });
  onTestFinished(() => void vi.doUnmock("@resvg/resvg-js"));
  const { pngPlot: drawn } = await import("./png-plot.js");
  await expect(drawn(plot(panel))).rejects.toMatchObject({
    code: "TG_PNG",
    help: expect.stringContaining("--svg or --html"),
  });
});

it("a page asks no other host and runs no script", () => {
  const page = htmlPage(plot(panel), [{ title: "Numbers", head: ["a", "b"], rows: [["x", "1"]] }]);
  expect(page).toContain("default-src 'none'");
  expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|<script|<link|url\((?!#)/);
  expect(page).toContain('<td class="number">1</td>');
});

it("a page has a drawing for each panel, which stand below each other where there is no room", () => {
  const page = htmlPage(plot(panel, panel, panel), []);
  expect(page.match(/<svg /g)).toHaveLength(3);
  expect(new Set(page.match(/clipPath id="[^"]+"/g)).size).toBe(3);
  expect(page).toContain("repeat(auto-fit");
});

it("of curves that are the same it is said which is seen", () => {
  const [, three] = scenarioPlot(runScenario(readyScenarios.overage())).panels;
  expect(three?.lines.map(({ label }) => label)).toContain("overage 1 (36), under overage 0.5");
});

describe("the plot of a run", () => {
  const scenario = (more: Partial<Scenario>): Scenario => ({
    name: "s",
    title: "S",
    about: "",
    seconds: 20,
    clients: [{ name: "a", phases: [{ from: 0, to: 20, rate: 2 }] }],
    limits: [
      { limit: { earrrl: { rate: 1, halfLife: "5s" } } },
      { limit: { fixedWindow: { limit: 5, window: "5s" } } },
    ],
    ...more,
  });

  it("has a panel for each limit, for each client, or for each estimate", () => {
    const panels = (more: Partial<Scenario>) => scenarioPlot(runScenario(scenario(more))).panels.length;
    expect(panels({})).toBe(2);
    expect(panels({ plot: "calls-by-client" })).toBe(1);
    expect(panels({ plot: "estimates" })).toBe(1);
  });

  it("of clients far apart has a logarithmic axis", () => {
    const clients = [2, 0.05].map((rate) => ({ name: `${rate}`, phases: [{ from: 0, to: 20, rate }] }));
    const scale = (more: Partial<Scenario>) => scenarioPlot(runScenario(scenario(more))).panels[0]?.y.scale;
    expect(scale({ clients })).toBe("log");
    expect(scale({ clients, plot: "estimates" })).toBe("log");
    expect(scale({ plot: "estimates" })).toBeUndefined();
  });

  it("of a client that sends nothing is empty, not broken", () => {
    const clients = [{ name: "a", phases: [] }];
    for (const each of ["estimates", "calls-by-limit", "calls-by-client"] as const)
      expect(svgPlot(scenarioPlot(runScenario(scenario({ clients, plot: each }))))).not.toMatch(
        /NaN|Infinity/,
      );
  });
});
