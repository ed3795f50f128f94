/* Loads the page again in a tab whose session has `ended`: only a page load gives the socket the cookie that the browser has
   now. Once for each session, so that a browser that still has the ended session keeps the page. */
import { useEffect } from "react";

const KEY = "signum_ended_session";

export function Reload({ ended = "" }) {
  useEffect(() => {
    if (!ended || sessionStorage.getItem(KEY) === ended) return;
    sessionStorage.setItem(KEY, ended);
    window.location.reload();
  }, [ended]);
  return null;
}
