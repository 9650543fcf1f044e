from shop.cart import Cart


def test_total_without_discount():
    cart = Cart()
    cart.add("pen", 150, 2)
    assert cart.total() == 300
