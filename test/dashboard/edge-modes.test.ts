import { expect, it } from "vitest";
import { openEdgesRig } from "../server/edges-rig.js";
import { openWindow } from "./rig.js";

it.each(["haproxy", "varnish"] as const)(
  "who is held is let pass by %s when the page says off, marked when it says shadow, and refused again when it says on",
  async (front) => {
    const rig = await openEdgesRig({
      control: "{ track: false, every: 1s }",
      rules: '[{ name: flood, by: ip, limits: ["3 per hour"], hold: { after: 1, for: [1h] }, edges: true }]',
    });
    const held = { address: "20.0.0.7" };
    const isRefused = async () => (await rig.visit(front, held)).isRefusedThere;
    await expect.poll(isRefused, { timeout: 20_000, interval: 50 }).toBe(true);
    const page = await openWindow(rig.tidegates[0]?.admin as string, "#/edges");
    const edge = page.getByRole("region", { name: `Edge ${front}` });
    await edge.getByText("in step").waitFor();
    const set = async (mode: string, why: string) => {
      await edge.getByLabel(`Why ${front} is set`).fill(why);
      await edge.getByRole("button", { name: mode === "on" ? `on ${front}` : mode }).click();
      await page.getByText(`${front} is set to ${mode}.`).waitFor();
      // The page shows it too: whoever acts on what he does not see is told that it has changed.
      await edge.getByText(why, { exact: true }).waitFor();
    };
    await set("off", "a customer complains");
    await expect.poll(isRefused, { timeout: 10_000, interval: 50 }).toBe(false);
    await set("shadow", "to see who it would be");
    expect(await isRefused()).toBe(false);
    await set("on", "it was right");
    await expect.poll(isRefused, { timeout: 10_000, interval: 50 }).toBe(true);
  },
);
