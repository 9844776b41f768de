"""Well-known public releases with differential privacy, to compare with; facts from the publications named."""

from release.report.model import PublicRelease

OTHERS = (
    PublicRelease(
        name="United States Census 2020, redistricting data (persons)",
        year=2021,
        unit="a person, once a decade",
        epsilon="17.14 at δ = 1e-10 (ρ = 2.56)",
        source="U.S. Census Bureau, production settings of the 2020 Disclosure Avoidance System, "
        "github.com/uscensusbureau/DAS_2020_Redistricting_Production_Code; Abowd et al. 2022, "
        "doi:10.1162/99608f92.529e3cb9",
    ),
    PublicRelease(
        name="Israel, National Registry of Live Births 2014 (synthetic rows)",
        year=2024,
        unit="a mother with her newborn",
        epsilon="9.98, δ = 0",
        source="Hod and Canetti 2024, arXiv:2405.00267",
    ),
    PublicRelease(
        name="Apple, emoji suggestions",
        year=2017,
        unit="a user, each day (noise added on the device)",
        epsilon="4 a day, δ = 0",
        source="Apple, Differential Privacy Overview; desfontain.es/blog/real-world-differential-privacy.html",
    ),
    PublicRelease(
        name="Google, COVID-19 Vaccination Search Insights",
        year=2021,
        unit="a user's searches, each day",
        epsilon="2.19 a day at δ = 1e-5",
        source="Bavadekar et al. 2021, arXiv:2107.01179",
    ),
    PublicRelease(
        name="Google, COVID-19 Search Trends symptoms",
        year=2020,
        unit="a user's searches, each day",
        epsilon="1.68 a day, δ = 0",
        source="Bavadekar et al. 2020, arXiv:2009.01265",
    ),
    PublicRelease(
        name="Wikimedia, page views by country",
        year=2023,
        unit="the first 10 different pages of a device, each day",
        epsilon="about 1 a day at δ = 1e-7 (ρ = 0.015)",
        source="Wikimedia Foundation, analytics.wikimedia.org/published/datasets/country_project_page; Adeleye et al. "
        "2023, arXiv:2308.16298",
    ),
)
