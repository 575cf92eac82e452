"""Papers whose figures are reproduced, with their citations."""

from dataclasses import dataclass

from dpbandits.spec.figure import OWN as OWN


@dataclass(frozen=True)
class Paper:
    """A paper, or the group of figures that belong to none."""

    key: str
    title: str
    authors: str = ""
    venue: str = ""
    cited: str = ""  # last names of its authors, as in a citation
    year: int = 0
    journal: str = ""  # of an article; empty: the venue is a conference
    volume: str = ""

    @property
    def short(self) -> str:
        """Citation of the paper, as `Azize and Basu 2022`; its title if it has no year."""
        return f"{self.cited} {self.year}" if self.year else self.title


PAPERS = (
    Paper(
        "tossou2016",
        "Algorithms for Differentially Private Multi-Armed Bandits",
        "Aristide C. Y. Tossou and Christos Dimitrakakis",
        "Thirtieth AAAI Conference on Artificial Intelligence (AAAI 2016)",
        "Tossou and Dimitrakakis",
        2016,
    ),
    Paper(
        "tossou2017",
        "Achieving Privacy in the Adversarial Multi-Armed Bandit",
        "Aristide C. Y. Tossou and Christos Dimitrakakis",
        "Thirty-First AAAI Conference on Artificial Intelligence (AAAI 2017)",
        "Tossou and Dimitrakakis",
        2017,
    ),
    Paper(
        "sajed2019",
        "An Optimal Private Stochastic-MAB Algorithm Based on an Optimal Private Stopping Rule",
        "Touqir Sajed and Or Sheffet",
        "36th International Conference on Machine Learning (ICML 2019)",
        "Sajed and Sheffet",
        2019,
    ),
    Paper(
        "azize2022",
        "When Privacy Meets Partial Information: A Refined Analysis of Differentially Private"
        " Bandits",
        "Achraf Azize and Debabrota Basu",
        "Advances in Neural Information Processing Systems 35 (NeurIPS 2022)",
        "Azize and Basu",
        2022,
    ),
    Paper(
        "hu2022",
        "Near-Optimal Thompson Sampling-based Algorithms for Differentially Private Stochastic"
        " Bandits",
        "Bingshan Hu and Nidhi Hegde",
        "38th Conference on Uncertainty in Artificial Intelligence (UAI 2022)",
        "Hu and Hegde",
        2022,
    ),
    Paper(
        "wang2024",
        "Optimal Learning Policies for Differential Privacy in Multi-armed Bandits",
        "Siwei Wang and Jun Zhu",
        "Journal of Machine Learning Research 25 (2024)",
        "Wang and Zhu",
        2024,
        "Journal of Machine Learning Research",
        "25",
    ),
    Paper(
        "azize2024",
        "Concentrated Differential Privacy for Bandits",
        "Achraf Azize and Debabrota Basu",
        "IEEE Conference on Secure and Trustworthy Machine Learning (SaTML 2024)",
        "Azize and Basu",
        2024,
    ),
    Paper(
        "ren2020",
        "Multi-Armed Bandits with Local Differential Privacy",
        "Wenbo Ren, Xingyu Zhou, Jia Liu and Ness B. Shroff",
        "CoRR abs/2007.03121 (2020)",
        "Ren et al.",
        2020,
        "CoRR",
        "abs/2007.03121",
    ),
    Paper(
        "azize2025",
        "Optimal Regret of Bernoulli Bandits under Global Differential Privacy",
        "Achraf Azize, Yulian Wu, Junya Honda, Francesco Orabona, Shinji Ito and Debabrota Basu",
        "Advances in Neural Information Processing Systems 38 (NeurIPS 2025)",
        "Azize et al.",
        2025,
    ),
    Paper(OWN, "Across the papers", venue="Figures of our own"),
)
BY_KEY = {paper.key: paper for paper in PAPERS}


def paper(key: str) -> Paper:
    """Return the paper of a key; an unknown key gives a paper with the key as its title."""
    return BY_KEY.get(key) or Paper(key, key)
