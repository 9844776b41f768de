"""Well-known public releases with differential privacy, to compare with; facts from their makers' own publications."""

from release.report.model import PublicRelease

OTHERS = (
    PublicRelease(
        name="United States Census 2020, redistricting data (persons)",
        year=2021,
        unit="a person, once a decade",
        epsilon="17.14 at δ = 1e-10",
        source="U.S. Census Bureau, announcement of 9 June 2021; Abowd et al. 2022, doi:10.1162/99608f92.529e3cb9",
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
        source="Apple, Differential Privacy Overview",
    ),
    PublicRelease(
        name="Google, COVID-19 Community Mobility Reports",
        year=2020,
        unit="a user, each day",
        epsilon="2.64 a day, δ = 0",
        source="Aktay et al. 2020, arXiv:2004.04145",
    ),
)
