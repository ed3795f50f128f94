/* Sends transactions with the wallet in this browser (EIP-1193), one after the other. The server wrote them and says what
 * each does; the wallet signs. What was sent stays sent: the next attempt continues with the rest, and waits for a
 * transaction whose result is not known yet instead of sending it again, also after this page was closed or loaded again. */
import { useEffect, useRef, useState } from "react";
import CircleCheck from "lucide-react/dist/esm/icons/circle-check.mjs";
import CircleX from "lucide-react/dist/esm/icons/circle-x.mjs";
import LoaderCircle from "lucide-react/dist/esm/icons/loader-circle.mjs";
import Wallet from "lucide-react/dist/esm/icons/wallet.mjs";

const PATIENCE = 300_000; /* Milliseconds until a transaction that is not included is left to the chain. */
const PAUSE = 700;
const LOOKS = [0, 1000, 2500, 5000, 9000, 15000]; /* When the page is read again after the last transaction. */

const refused = (words) => ({ words });
const short = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`;
const wait = (time) => new Promise((done) => setTimeout(done, time));

function wordsOf(error) {
  if (error?.words) return error.words;
  if (error?.code === 4001) return "You refused in your wallet, so nothing more was sent. What you entered is still here.";
  if (error?.code === -32002) return "Your wallet is already asking. Open it and answer there.";
  const said = String(error?.data?.message || error?.message || "").slice(0, 200);
  return said ? `Your wallet could not send it: ${said}` : "Your wallet could not send it. Try again.";
}

async function connect(wallet, account) {
  const accounts = await wallet.request({ method: "eth_requestAccounts" });
  if (!accounts.some((one) => one.toLowerCase() === account.toLowerCase()))
    throw refused(`Your wallet uses another account. Choose ${short(account)} in your wallet, then try again.`);
}

const isOn = async (wallet, chain) =>
  Number(await wallet.request({ method: "eth_chainId" })) === Number(chain.chain_id);

async function useChain(wallet, chain) {
  if (await isOn(wallet, chain)) return;
  const unknown = refused(`Your wallet does not know ${chain.name}. Add this chain in your wallet, then try again.`);
  try {
    await wallet.request({ method: "wallet_switchEthereumChain", params: [{ chainId: chain.chain_id }] });
  } catch (error) {
    if (error.code !== 4902) throw error;
    if (!chain.rpc_url) throw unknown;
    const nativeCurrency = { name: chain.currency, symbol: chain.currency, decimals: 18 };
    const added = { chainId: chain.chain_id, chainName: chain.name, nativeCurrency, rpcUrls: [chain.rpc_url] };
    await wallet.request({ method: "wallet_addEthereumChain", params: [added] });
  }
  if (!(await isOn(wallet, chain))) throw refused(`Your wallet is not on ${chain.name}. Choose it in your wallet, then try again.`);
}

const nameOf = (chain, account, { contract, data }) => ["signum-sent", chain.chain_id, account, contract, data].join(":");

/* The hash of a transaction that this browser sent and whose result it has not seen. */
const pending = {
  of: (name) => attempt(() => sessionStorage.getItem(name)) || "",
  keep: (name, hash) => attempt(() => sessionStorage.setItem(name, hash)),
  forget: (name) => attempt(() => sessionStorage.removeItem(name)),
};

function attempt(access) {
  try {
    return access();
  } catch {
    return null; /* The browser keeps nothing here. */
  }
}

async function included(wallet, waiting, name) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    const receipt = await wallet.request({ method: "eth_getTransactionReceipt", params: [waiting.current] });
    if (receipt) {
      waiting.current = "";
      pending.forget(name);
      if (Number(receipt.status) === 1) return;
      throw refused("The chain refused the transaction. Nothing changed except the network fee.");
    }
    await wait(PAUSE);
  }
  throw refused("The transaction is sent, but not included yet. Its result appears here once it is.");
}

export function SendWithWallet({ chain, account, transactions, label, onDone, onLook }) {
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState("");
  const [done, setDone] = useState(0);
  const sent = useRef(0);
  const waiting = useRef(""); /* The hash of a transaction whose result is not known yet. */
  const written = JSON.stringify(transactions);
  useEffect(() => {
    sent.current = 0;
    waiting.current = "";
    setDone(0);
    setProblem("");
  }, [written]);
  const send = async () => {
    setProblem("");
    try {
      const wallet = window.ethereum;
      if (!wallet)
        throw refused("This browser has no wallet. Open this page in the browser of your wallet, or install one as an extension.");
      setBusy("Waiting for your wallet");
      await connect(wallet, account);
      while (sent.current < transactions.length) {
        const { contract: to, data, value } = transactions[sent.current];
        const name = nameOf(chain, account, transactions[sent.current]);
        const earlier = waiting.current ? "" : pending.of(name);
        await useChain(wallet, chain);
        if (!waiting.current && !earlier) {
          setBusy("Confirm in your wallet");
          const asked = { from: account, to, data, value, chainId: chain.chain_id };
          waiting.current = await wallet.request({ method: "eth_sendTransaction", params: [asked] });
          pending.keep(name, waiting.current);
        }
        waiting.current = waiting.current || earlier;
        setBusy("Waiting for the chain");
        await included(wallet, waiting, name);
        if (earlier)
          throw refused("You had sent this before, and now it is included. Look at the page before you send it once more.");
        sent.current += 1;
        setDone(sent.current);
      }
      onDone?.();
      LOOKS.forEach((time) => setTimeout(() => onLook?.(), time));
    } catch (error) {
      setProblem(wordsOf(error));
    }
    setBusy("");
  };
  const Sign = busy ? LoaderCircle : Wallet;
  return (
    <div className="passkey">
      {done > 0 && done < transactions.length && (
        <div className="note ok" role="status">
          <CircleCheck size={15} aria-hidden="true" />
          <div className="grow">
            {done} of {transactions.length} sent
          </div>
        </div>
      )}
      <button type="button" className="btn primary" onClick={send} disabled={!!busy} aria-busy={!!busy}>
        <Sign size={15} className={busy ? "spin" : undefined} aria-hidden="true" />
        {busy || label}
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
