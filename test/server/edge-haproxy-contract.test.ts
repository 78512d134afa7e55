import { edgeContract } from "./edge-contract.js";
import { openHaproxyRig } from "./edge-haproxy-rig.js";

describeFor("HAProxy", false);
describeFor("HAProxy with its files", true);

function describeFor(name: string, keepsFiles: boolean): void {
  edgeContract(name, async () => {
    const rig = await openHaproxyRig();
    const foreign = "192.0.2.66";
    return {
      edge: rig.openEdge({ keepsFiles }),
      async read() {
        const lines = [...(await rig.show("digests")), ...(await rig.show("addresses"))];
        const ours = lines
          .map((line) => line.split(" ") as [string, string])
          .filter(([, end]) => /^\d+$/.test(end));
        // A second one would be hidden by a map.
        if (new Set(ours.map(([key]) => key)).size !== ours.length) throw new Error(`twice: ${lines}`);
        return new Map(ours.map(([key, end]) => [key, Number(end) * 1_000]));
      },
      async plantForeign() {
        await rig.say(`add map ${rig.paths.addresses} ${foreign} true`);
        return foreign;
      },
      hasForeign: async (key) => (await rig.show("addresses")).includes(`${key} true`),
      async wipe() {
        for (const path of Object.values(rig.paths)) await rig.say(`clear map ${path}`);
      },
      reopen: async () => rig.openEdge({ keepsFiles }),
      close: () => rig.close(),
    };
  });
}
