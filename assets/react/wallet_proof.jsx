/* A signature by the wallet in this browser: the page asks for its address, the server writes the message. */
import { useEffect, useRef, useState } from "react";
import CircleX from "lucide-react/dist/esm/icons/circle-x.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";
import Wallet from "lucide-react/dist/esm/icons/wallet.mjs";

const UNSIGNED = "Nothing was signed. Try again.";

/* Wallets sign bytes in hexadecimal. */
const hex = (text) =>
  "0x" + Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("");

export function SignWithWallet({ message, label, className = "btn primary", onAccount, onSignature }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const account = useRef("");
  const signed = useRef("");
  const attempt = async (run) => {
    setBusy(true);
    setProblem("");
    try {
      if (!window.ethereum) throw { words: "This browser has no wallet. Open this page in the browser of your wallet." };
      await run(window.ethereum);
    } catch (error) {
      setProblem(error.words || UNSIGNED);
    }
    setBusy(false);
  };
  const connect = () =>
    attempt(async (wallet) => {
      [account.current] = await wallet.request({ method: "eth_requestAccounts" });
      onAccount?.(account.current);
    });
  useEffect(() => {
    if (!message || !account.current || signed.current === message) return;
    signed.current = message;
    attempt(async (wallet) => {
      onSignature?.(await wallet.request({ method: "personal_sign", params: [hex(message), account.current] }));
    });
  }, [message]);
  const Sign = busy ? LoaderCircle : Wallet;
  return (
    <div className="passkey">
      <button type="button" className={className} onClick={connect} disabled={busy}>
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
