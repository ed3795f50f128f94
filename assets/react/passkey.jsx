/* Passkeys: the browser's part, from the options of our API to the credential that we send back. */
import { useEffect, useRef, useState } from "react";
import CircleX from "lucide-react/dist/esm/icons/circle-x.mjs";
import Fingerprint from "lucide-react/dist/esm/icons/fingerprint-pattern.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";

const UNUSED = "No passkey was used. Try again.";

const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
const decoded = (known = []) => known.map((one) => ({ ...one, id: decode(one.id) }));

/* Older browsers lack `toJSON`, so the credential is serialized here. */
function written(credential, fields) {
  const response = {};
  for (const name of fields) {
    if (credential.response[name]) response[name] = encode(credential.response[name]);
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return JSON.stringify({ id: credential.id, rawId: encode(credential.rawId), type: credential.type, response });
}

async function make({ publicKey: told }) {
  const user = { ...told.user, id: decode(told.user.id) };
  const publicKey = { ...told, user, challenge: decode(told.challenge), excludeCredentials: decoded(told.excludeCredentials) };
  const credential = await navigator.credentials.create({ publicKey });
  return written(credential, ["clientDataJSON", "attestationObject"]);
}

async function show(url) {
  const answer = await fetch(url, { method: "POST", credentials: "same-origin" });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw { words: told.detail || UNUSED };
  const { publicKey: asked } = told;
  const publicKey = { ...asked, challenge: decode(asked.challenge), allowCredentials: decoded(asked.allowCredentials) };
  const credential = await navigator.credentials.get({ publicKey });
  return written(credential, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]);
}

function useCeremony(run) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const start = async () => {
    setBusy(true);
    setProblem("");
    try {
      if (!window.PublicKeyCredential) throw { words: "This browser has no passkeys." };
      await run();
    } catch (error) {
      setProblem(error.words || UNUSED);
    }
    setBusy(false);
  };
  return { busy, problem, start };
}

function Ceremony({ busy, problem, start, label, className }) {
  const Sign = busy ? LoaderCircle : Fingerprint;
  return (
    <div className="passkey">
      <button type="button" className={className} onClick={start} disabled={busy}>
        <Sign size={15} className={busy ? "spin" : undefined} aria-hidden="true" />
        {label}
      </button>
      {problem && (
        <div className="note bad" role="alert">
          <CircleX size={15} aria-hidden="true" />
          <div className="grow">{problem}</div>
        </div>
      )}
    </div>
  );
}

/* Asks for a passkey with the options from `url`. Posts the surrounding form if it has a field named `credential`. */
export function ShowPasskey({ url, label, className = "btn", onAnswer }) {
  const place = useRef(null);
  const ceremony = useCeremony(async () => {
    const answer = await show(url);
    const form = place.current.closest("form");
    if (!form?.elements.credential) return onAnswer?.(answer);
    form.elements.credential.value = answer;
    HTMLFormElement.prototype.submit.call(form);
  });
  return (
    <div ref={place}>
      <Ceremony {...ceremony} label={label} className={className} />
    </div>
  );
}

/* Creates a passkey from the server's options: immediately, and again with the button. */
export function MakePasskey({ options, label, className = "btn primary", onAnswer }) {
  const ceremony = useCeremony(async () => onAnswer?.(await make(options)));
  const begun = useRef("");
  useEffect(() => {
    const challenge = options?.publicKey?.challenge ?? "";
    if (!challenge || begun.current === challenge) return;
    begun.current = challenge;
    ceremony.start();
  }, [options]);
  return <Ceremony {...ceremony} label={label} className={className} />;
}
