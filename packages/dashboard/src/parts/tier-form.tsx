import { useState } from "preact/hooks";
import { whyNot } from "../session.ts";
import { visible } from "../words.ts";

export interface TierFormProps {
  /** Null is the default tier. */
  readonly now: string | null;
  /** Those of the policy in force. */
  readonly tiers: readonly string[];
  readonly onSet: (tier: string | null) => Promise<void>;
}

export function TierForm(props: TierFormProps) {
  const [tier, setTier] = useState(props.now ?? "");
  // One the policy has no more stays what it is until another is chosen.
  const known = [...new Set([...props.tiers, ...(props.now === null ? [] : [props.now])])];
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void props.onSet(tier === "" ? null : tier);
      }}
    >
      <fieldset disabled={whyNot("operator") !== undefined}>
        <div class="row">
          <label>
            Tier
            <select value={tier} onChange={(event) => setTier(event.currentTarget.value)}>
              <option value="">the default one</option>
              {known.map((each) => (
                <option key={each} value={each}>
                  {visible(each)}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" class="main" title={whyNot("operator")}>
            Set the tier
          </button>
        </div>
      </fieldset>
    </form>
  );
}
