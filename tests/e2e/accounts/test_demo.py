"""Signing in as a person of the demo with one click, and starting over."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Console, Signum


def test_one_click_signs_in_as_the_officer(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/sign-in?next=/o/{signum.organization}/parties")
    people = console.hydrated().page.get_by_role("region", name="Or try the demo as")
    expect(people.get_by_role("listitem")).to_have_count(3)
    expect(people.get_by_role("button", name="Elin Halvorsen Admin Has one approval to decide")).to_be_visible()
    people.get_by_role("button", name=re.compile("Priya Shah Compliance officer Reviews (\\w+) investors")).click()
    page.wait_for_url("**/parties")
    console.heading("Parties")
    assert "signum_session" in {cookie["name"] for cookie in page.context.cookies()}


@pytest.mark.long
def test_one_click_opens_the_page_of_the_investor(console: Console, signum: Signum) -> None:
    console.page.goto(f"{signum.url}/sign-in")
    console.hydrated().page.get_by_role("button", name=re.compile("James Okafor Investor Claims income")).click()
    console.page.wait_for_url("**/i/**")


@pytest.mark.long
def test_start_over_asks_before_it_deletes_anything(console: Console, signum: Signum) -> None:
    page = console.page
    page.goto(f"{signum.url}/sign-in")
    console.hydrated().page.get_by_role("button", name="Reset devnet").click()
    page.wait_for_url("**/chains**")
    question = page.get_by_role("dialog", name="Reset the devnet?")
    expect(question).to_contain_text("deletes the chains and the database")
    question.get_by_role("button", name="Reset devnet").click()
    expect(question).to_contain_text("Type reset to confirm.")
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_be_hidden()
